import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { start, workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

// Processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const say = ['--model', 'script:say.json']

it('lists and shows what a session holds, as text and as JSON', async () => {
  const cwd = workFolder()
  await landfall(['run', 'hello', ...say], { cwd })
  await landfall(['run', 'bye', '--session', 'other', ...say], { cwd })
  const json = async (...words: string[]) => JSON.parse((await landfall([...words, '--json'], { cwd })).out)
  expect(await json('sessions')).toMatchObject([
    { tenant: 'local', user: 'local', session: 'default', state: 'open', queued: 0, quarantined: 0, seq: 9 },
    { session: 'other' },
  ])
  expect(await json('sessions', '--user', 'nobody')).toEqual([])
  expect(await json('tasks')).toMatchObject([
    { kind: 'foreground', origin: 'start', state: 'terminal', status: 'completed' },
  ])
  expect(await json('tasks', '--session', 'never')).toEqual([])
  expect(await json('messages')).toMatchObject([
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'Turn 0: hello' },
  ])
  expect(await json('show')).toMatchObject({
    session: 'default',
    tasks: [{ status: 'completed' }],
    queue: [],
    pauses: [],
  })
  expect(await json('replay', '--at', '3')).toMatchObject({ seq: 3, tasks: [{ state: 'running' }] })
  const text = await landfall(['messages'], { cwd })
  expect(text.out).toBe('user: hello\nassistant: Turn 0: hello\n')
  expect(await landfall(['show', '--session', 'never'], { cwd })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^NOT_FOUND: /),
  })
  expect((await landfall(['replay', '--at', '999'], { cwd })).code).toBe(1)
})

it('tells what a background task says from the conversation', async () => {
  const cwd = workFolder()
  const spawns = { calls: [{ name: 'task_spawn', arguments: { input: 'dig' } }] }
  const script = { name: 'm', turns: [[spawns, { text: 'begun' }]], background: [{ text: 'dug' }] }
  writeFileSync(join(cwd, 'spawns.json'), JSON.stringify(script))
  await landfall(['run', 'hello', '--model', 'script:spawns.json'], { cwd })
  const tasks = JSON.parse((await landfall(['tasks', '--json'], { cwd })).out) as { id: string; kind: string }[]
  const beside = `background ${tasks.find(({ kind }) => kind === 'background')?.id} `
  const lines = (await landfall(['messages'], { cwd })).out.split('\n')
  expect(lines).toEqual(expect.arrayContaining([`${beside}user: dig`, `${beside}assistant: dug`]))
  expect(lines).toEqual(expect.arrayContaining(['user: hello', 'assistant: begun']))
})

it('prints the log as JSON lines, from a seq on', async () => {
  const cwd = workFolder()
  await landfall(['run', 'hello', ...say], { cwd })
  const facts = (await landfall(['log'], { cwd })).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, at) => at + 1))
  expect(Object.keys(facts[0])).toEqual(
    'v id cursor seq step at tenant user session task run call type data by cause command owner prev hash'.split(' '),
  )
  const rest = (await landfall(['log', '--after', '4', '--limit', '2'], { cwd })).out.trim().split('\n')
  expect(rest.map((line) => JSON.parse(line).seq)).toEqual([5, 6])
})

it('follows the log of another process until the session is erased', async () => {
  const cwd = workFolder()
  await landfall(['run', 'first', ...say], { cwd })
  const follower = start(['log', '--follow'], { cwd })
  await follower.shows('task.completed')
  await landfall(['run', 'second', ...say], { cwd })
  await follower.shows('"seq":16')
  await landfall(['erase'], { cwd })
  const { code, out } = await follower.ended
  expect(code).toBe(0)
  const seqs = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).seq)
  expect(seqs).toEqual(seqs.map((_, at) => at + 1))
})

it('draws the charts', async () => {
  const cwd = workFolder()
  const drawn = await landfall(['machines', 'task', '--format', 'mermaid'], { cwd })
  expect(drawn.out).toMatch(/^%% task\nstateDiagram-v2/)
  expect(JSON.parse((await landfall(['machines', '--format', 'json'], { cwd })).out)).toMatchObject({
    session: { type: 'parallel' },
    task: { initial: 'pending' },
    call: {},
  })
  expect((await landfall(['machines', 'nothing'], { cwd })).code).toBe(2)
})

it('doctor says what works', async () => {
  const cwd = workFolder()
  const { code, out } = await landfall(['doctor', '--json'], { cwd })
  expect(code).toBe(0)
  const { ok, checks } = JSON.parse(out)
  expect(ok).toBe(true)
  expect(checks.map(({ name }: { name: string }) => name)).toEqual([
    'node',
    'better-sqlite3',
    'store',
    'git',
    'bubblewrap',
    'docker',
  ])
  // Each bound of a sandbox that works is told, and those that are not held for all processes together in words too.
  for (const { name, ok, detail, bounds } of checks.slice(-2)) {
    expect(bounds.length, name).toBe(ok ? 6 : 0)
    for (const { bound, holds } of bounds) expect(holds === 'together' || detail.includes(bound), detail).toBe(true)
  }
})
