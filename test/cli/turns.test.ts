import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { start, workFolder } from './cli-process.ts'
import { landfall, turnRuns } from './landfall.ts'

// Processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const say = ['--model', 'script:say.json']
const hang = ['--model', 'script:hang.json']

it('runs a turn: the final answer alone on standard output, progress on standard error', async () => {
  const cwd = workFolder()
  const { code, out, err } = await landfall(
    ['run', 'what is here', '--model', 'script:look.json', '--workspace', '.'],
    {
      cwd,
    },
  )
  expect(code).toBe(0)
  expect(out).toMatch(/^You asked what is here and I saw \{"path":"\."/)
  expect(out).toContain('"name":"look.json"')
  expect(out.trim().split('\n')).toHaveLength(1)
  expect(err).toContain('Looking.')
  expect(err).toContain('fs.list succeeded')
  expect(err).toContain('completed: 2 model requests, 1 call')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: looks for escape sequences
  expect(`${out}${err}`).not.toMatch(/\u001b/)
})

it('takes the input from standard input, and is silent beside the result when asked', async () => {
  const cwd = workFolder()
  const { code, out, err } = await landfall(['run', '-', '--quiet', ...say], { cwd, input: 'from a pipe\n' })
  expect({ code, out, err }).toEqual({ code: 0, out: 'Turn 0: from a pipe\n', err: '' })
})

it('gives the outcome as one JSON object', async () => {
  const cwd = workFolder()
  const { code, out, err } = await landfall(['run', 'hello', '--json', '--command-id', 'c1', ...say], { cwd })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toMatchObject({
    status: 'completed',
    message: 'Turn 0: hello',
    steps: 1,
    receipt: { result: 'applied', command: 'c1' },
    calls: { total: 0 },
    pendingSteering: [],
  })
  const again = await landfall(['run', 'hello', '--json', '--command-id', 'c1', ...say], { cwd })
  expect(JSON.parse(again.out)).toMatchObject({ status: 'completed', receipt: { result: 'duplicate' } })
})

it('exits by outcome: 1 for a failed turn, with its code', async () => {
  const cwd = workFolder()
  const failed = await landfall(['run', 'hello', '--model', 'script:fail.json'], { cwd })
  expect(failed).toMatchObject({ code: 1, out: '' })
  expect(failed.err).toMatch(/^QUOTA: The turn failed/m)
  const json = await landfall(['run', 'hello', '--json', '--model', 'script:fail.json'], { cwd })
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toMatchObject({ status: 'failed', code: 'QUOTA' })
})

it('SIGINT cancels the turn durably and exits 130', async () => {
  const cwd = workFolder()
  const run = start(['run', 'wait', ...hang], { cwd })
  await turnRuns(cwd)
  run.process.kill('SIGINT')
  expect((await run.ended).code).toBe(130)
  const [task] = JSON.parse((await landfall(['tasks', '--json'], { cwd })).out)
  expect(task).toMatchObject({ state: 'terminal', status: 'cancelled' })
  const log = await landfall(['log'], { cwd })
  expect(log.out).toContain('interrupted at the terminal')
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})

it('a second SIGINT ends at once, and the log stays valid', async () => {
  const cwd = workFolder()
  writeFileSync(join(cwd, 'deaf.json'), JSON.stringify({ everyTurn: [{ calls: [{ name: 'deaf', arguments: {} }] }] }))
  writeFileSync(
    join(cwd, 'deaf.mjs'),
    `export default [{ kind: 'tool', name: 'deaf', description: 'Hears nothing.', tags: [], effect: 'mutate', confirm: 'none',
      load: 'start', input: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }),
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) } } },
      run: () => new Promise((resolve) => setTimeout(resolve, 60_000)) }]`,
  )
  const run = start(['run', 'wait', '--model', 'script:deaf.json', '--tools', 'deaf.mjs'], { cwd })
  await run.shows('deaf ...')
  run.process.kill('SIGINT')
  await run.shows('cancelling')
  run.process.kill('SIGINT')
  expect((await run.ended).code).toBe(130)
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})

it('a turn of a killed process is not begun again by run, and is ended by cancel', async () => {
  const cwd = workFolder()
  const run = start(['run', 'wait', ...hang], { cwd })
  await turnRuns(cwd)
  run.process.kill('SIGKILL')
  await run.ended
  const busy = await landfall(['run', 'more', ...say], { cwd })
  expect(busy.code).toBe(3)
  expect(busy.err).toMatch(/^SESSION_BUSY: .*task=/)
  const noModel = await landfall(['cancel'], { cwd })
  expect(noModel).toMatchObject({ code: 2, out: '' })
  const cancelled = await landfall(['cancel', ...hang], { cwd })
  expect(cancelled.code).toBe(0)
  expect(cancelled.out).toMatch(/^applied task=/)
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})

it('a blocked follow-up is reported, and runs when it is unblocked', async () => {
  const cwd = workFolder()
  await landfall(['run', 'first', '--model', 'script:fail.json'], { cwd })
  const blocked = await landfall(['follow-up', 'then', '--requires', 'success', ...say], { cwd })
  expect(blocked).toMatchObject({ code: 1, out: '' })
  const task = /TASK_BLOCKED: .*task=(\w+)/.exec(blocked.err)?.[1] ?? ''
  const unblocked = await landfall(['unblock', task, '--json', ...say], { cwd })
  expect(JSON.parse(unblocked.out)).toMatchObject({ result: 'applied', task })
  const messages = JSON.parse((await landfall(['messages', '--json'], { cwd })).out)
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Turn 1: then' })
})

it('operates a session: close, reopen, erase, each with its receipt and its refusals', async () => {
  const cwd = workFolder()
  await landfall(['run', 'hello', ...say], { cwd })
  expect((await landfall(['close', '--reason', 'lunch'], { cwd })).out).toMatch(/^applied seq=\d+/)
  expect(await landfall(['run', 'more', ...say], { cwd })).toMatchObject({
    code: 3,
    err: expect.stringMatching(/^SESSION_CLOSED: /),
  })
  expect((await landfall(['reopen'], { cwd })).code).toBe(0)
  expect(await landfall(['acknowledge', 'all', '--json'], { cwd })).toMatchObject({ code: 3, out: '' })
  expect((await landfall(['erase'], { cwd })).code).toBe(0)
  const refused = await landfall(['run', 'more', '--json', ...say], { cwd })
  expect(refused.code).toBe(3)
  expect(JSON.parse(refused.err)).toMatchObject({ code: 'SESSION_ERASED', retryable: false })
  expect((await landfall(['verify'], { cwd })).out).toMatch(/^ok local\/local\/default .* erased=1$/m)
})

it('a command reaches the session of another process through the store', async () => {
  const cwd = workFolder()
  const run = start(['run', 'wait', ...hang], { cwd })
  await turnRuns(cwd)
  const steered = await landfall(['steer', 'faster'], { cwd })
  expect(steered).toMatchObject({ code: 0, out: expect.stringMatching(/^queued task=/) })
  expect((await landfall(['cancel', '--reason', 'enough'], { cwd })).code).toBe(0)
  expect((await run.ended).code).toBe(130)
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})

it('npm start runs a turn whose words come from the files at hand', async () => {
  const cwd = workFolder()
  writeFileSync(join(cwd, 'package.json'), '{ "name": "first-name" }')
  writeFileSync(join(cwd, 'README.md'), '# Moss grows here')
  const first = await landfall(['start', 'What grows?'], { cwd })
  expect(first.code).toBe(0)
  expect(first.out).toContain('You asked: What grows?')
  expect(first.out).toContain('Moss grows here')
  expect(first.err).toContain('first-name')
  expect(first.err).toContain('npx landfall verify')
  writeFileSync(join(cwd, 'README.md'), '# Fern grows here')
  // The session goes on with its own copy of the folder, where it has one; another session begins with what is there now.
  const second = await landfall(['start', '--session', 'other'], { cwd })
  expect(second.out).toContain('Fern grows here')
  expect(second.out).not.toContain('Moss')
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
  expect(readFileSync(join(cwd, 'landfall.db')).subarray(0, 6).toString()).toBe('SQLite')
})
