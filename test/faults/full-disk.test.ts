import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { landfallProcess, main, workFolder } from '../cli/cli-process.ts'

vi.setConfig({ testTimeout: 120_000 })

const story = 'word '.repeat(8_000)

/** A turn of three steps under a limit on the size of files, which a write meets as it meets the end of a disk. */
function runWithin(cwd: string, kib: number) {
  const words = [main, 'run', 'hello', '--model', 'script:story.json', '--workspace', '.']
  const command = `ulimit -f ${kib}; exec ${[process.execPath, ...words].map((word) => `'${word}'`).join(' ')}`
  return spawnSync('bash', ['-c', command], { cwd, encoding: 'utf8', timeout: 60_000 })
}

it('a disk that is full at any moment of a turn ends the command with a code of the store, and leaves a valid log', async () => {
  const seen = new Set<string>()
  for (const kib of [40, 130, 190, 250, 330, 480]) {
    const cwd = workFolder()
    const look = { text: story, calls: [{ name: 'fs.list', arguments: { path: '.' } }] }
    writeFileSync(join(cwd, 'story.json'), JSON.stringify({ everyTurn: [look, look, { text: `done ${story}` }] }))
    const ended = runWithin(cwd, kib)
    expect(ended.signal, ended.stderr).toBeNull()
    const code = ended.status === 0 ? 'completed' : (/^(\w+): /m.exec(ended.stderr)?.[1] ?? ended.stderr)
    expect(code, `${kib} KiB`).toMatch(/^(completed|STORE_IO|STORE_FULL)$/)
    const before = await landfallProcess(['verify'], { cwd })
    const facts = (await landfallProcess(['log'], { cwd })).out.trim().split('\n').filter(Boolean)
    seen.add(`${code} ${facts.length > 0}`)
    if (facts.length === 0) continue
    expect(before, `${kib} KiB`).toMatchObject({ code: 0 })
    // With room again the turn is carried on, and ends once.
    if (code === 'completed') continue
    const on = await landfallProcess(['follow-up', 'more', '--model', 'script:story.json', '--workspace', '.'], { cwd })
    expect(on.code, on.err).toBe(0)
    const types = (await landfallProcess(['log'], { cwd })).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect(types.filter((type) => type === 'task.completed').length).toBe(2)
    expect((await landfallProcess(['verify'], { cwd })).code).toBe(0)
  }
  expect([...seen].sort()).toEqual(['STORE_IO false', 'STORE_IO true', 'completed true'])
})
