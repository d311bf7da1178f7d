import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime, scriptedModel } from '../../src/index.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { tempFolder } from '../log/temp-store.ts'
import type { HostFiles } from './host-process.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const module = fileURLToPath(new URL('./host-process.ts', import.meta.url))

/** Node 20 runs no TypeScript, so the child loads its module through vite. */
const script = `
const { runnerImport } = await import('vite')
const [path, files, how] = process.argv.slice(1)
const { module } = await runnerImport(path, { configFile: false, logLevel: 'silent' })
await module.runHost(JSON.parse(files), JSON.parse(how))
`

function startHost(
  files: HostFiles,
  how: object,
): { readonly child: ChildProcess; readonly lines: AsyncIterator<string> } {
  const words = ['--input-type=module', '-e', script, module, JSON.stringify(files), JSON.stringify(how)]
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}

it.each([
  ['after the task was known to it', 'late'],
  ['before the task was durable', 'early'],
] as const)(
  'a host whose process died, and that was persisted %s, is joined to the same task',
  async (_, keep) => {
    const folder = tempFolder()
    const files = { store: join(folder, 'landfall.db'), snapshot: join(folder, 'host.json') }
    const first = startHost(files, { model: 'hangs', keep })
    const task = (await first.lines.next()).value as string
    expect(existsSync(files.snapshot)).toBe(true)
    expect(readFileSync(files.snapshot, 'utf8').includes(task)).toBe(keep === 'late')
    const gone = once(first.child, 'exit')
    first.child.kill('SIGKILL')
    await gone

    const second = startHost(files, { model: 'answers', keep })
    const ended = once(second.child, 'exit')
    const told: string[] = []
    for (let line = await second.lines.next(); line.done !== true; line = await second.lines.next())
      told.push(line.value)
    await ended
    const outcome = told
      .map((line) => (line.startsWith('{') ? (JSON.parse(line) as object) : null))
      .find((each) => each !== null)
    expect(outcome).toMatchObject({ status: 'completed', message: 'Ordered.' })

    const reader = await openRuntime({ log: sqliteLog(files.store), model: scriptedModel({ otherwise: { text: '' } }) })
    const facts = await reader.session({ tenant: 'acme', user: 'ada', session: 'morning' }).log({ limit: 100 })
    await reader.close()
    expect(facts.filter(({ type }) => type === 'task.created').map((fact) => fact.task)).toEqual([task])
    expect(facts.filter(({ type }) => type === 'task.completed')).toHaveLength(1)
  },
  60_000,
)
