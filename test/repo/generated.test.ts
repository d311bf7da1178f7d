import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { taskMachine } from '../../machines/public.ts'
import { factSchemas } from '../../src/facts/schemas.ts'
import { chartJson } from '../../src/inspector/chart-json.ts'
import { chartDocument, chartPicture, generatedDocuments } from './generated.ts'
import { repoRoot } from './source-files.ts'

const documents = await generatedDocuments()

describe('documents made from the code', () => {
  it.each(Object.entries(documents))('%s is up to date (UPDATE=1 writes it anew)', (path, text) => {
    if (process.env.UPDATE === '1') writeFileSync(repoRoot + path, text)
    expect(existsSync(repoRoot + path) ? readFileSync(repoRoot + path, 'utf8') : '').toBe(text)
  })

  it('would change with a guard', { timeout: 60_000 }, async () => {
    const json = JSON.stringify(chartJson(taskMachine))
    const same = createMachine(JSON.parse(json))
    const changed = createMachine(JSON.parse(json.replaceAll('"concludes"', '"isOwn"')))
    const now = chartDocument('task', taskMachine)
    expect(chartDocument('task', same)).toBe(now)
    const then = chartDocument('task', changed)
    expect(now).toContain('task_quiescing --> task_terminal_failed : task.failed [concludes]')
    expect(then).toContain('task_quiescing --> task_terminal_failed : task.failed [isOwn]')
    const picture = documents['machines/task.svg']
    expect(picture).toContain('[concludes]')
    expect(await chartPicture('task', same)).toBe(picture)
    expect(await chartPicture('task', changed)).not.toContain('[concludes]')
  })

  it('the catalogue names every type once', () => {
    const rows = (documents['src/facts/catalogue.md'] ?? '').match(/^- `[\w.]+`/gm) ?? []
    expect(rows).toHaveLength(Object.keys(factSchemas).length)
    expect(new Set(rows).size).toBe(rows.length)
  })
})
