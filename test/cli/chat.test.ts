import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { main, type Started, start, workFolder } from './cli-process.ts'
import { landfall } from './landfall.ts'

const tools = `
import { defineTool, OutcomeUnknownError } from 'landfall'
import { z } from 'zod'
const asked = z.strictObject({ id: z.string().optional() })
export default [
  defineTool({ name: 'order', description: 'Orders.', input: asked, confirm: 'each', run: () => 'ordered' }),
  defineTool({ name: 'post', description: 'Posts.', input: asked, run: () => { throw new OutcomeUnknownError('gone') } }),
  defineTool({ name: 'ask', description: 'Asks.', input: asked, effect: 'read',
    run: (_, { resumed, pause }) => resumed?.input ?? pause({ reason: 'input', subject: 'Which colour?' }) }),
]
`

function folder(turns: object): string {
  const cwd = workFolder()
  writeFileSync(join(cwd, 'chat.json'), JSON.stringify({ name: 'chat', ...turns }))
  writeFileSync(join(cwd, 'tools.mjs'), tools.replaceAll("'landfall'", JSON.stringify(join(main, '../../index.js'))))
  return cwd
}

function chatIn(cwd: string, ...flags: string[]): Started & { say(line: string): void } {
  const words = ['chat', '--model', 'script:chat.json', '--tools', 'tools.mjs', ...flags]
  const chat = start(words, { cwd, listens: true, env: { NODE_PATH: join(main, '../../../../node_modules') } })
  return { ...chat, say: (line) => void chat.process.stdin?.write(`${line}\n`) }
}

const call = (name: string) => ({ calls: [{ name, arguments: {} }] })

it('takes turns from a pipe, one behind the other, waits for them at the end, and is plain', async () => {
  const cwd = workFolder()
  const { code, out, err } = await landfall(['chat', '--model', 'script:say.json'], {
    cwd,
    input: 'one\n\ntwo \\\nmore\n',
  })
  expect(out).toBe('Turn 0: one\nTurn 1: two \nmore\n')
  expect(code).toBe(0)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is tested.
  expect(`${out}${err}`).not.toMatch(/\u001b/)
})

it('takes what a backslash at the end of the input left open', async () => {
  const cwd = workFolder()
  const { code, out } = await landfall(['chat', '--model', 'script:say.json'], { cwd, input: 'one\ntwo \\' })
  expect(out).toBe('Turn 0: one\nTurn 1: two\n')
  expect(code).toBe(0)
})

it('steers, queues, supersedes and cancels while it works', async () => {
  const cwd = folder({ turns: [[{ hang: true }], [{ hang: true }], [{ text: 'You said {{input}}' }]] })
  const chat = chatIn(cwd)
  chat.say('first')
  chat.say('/steer mind the gap')
  await chat.shows('steer: queued')
  chat.say('third')
  await chat.shows('queue: queued')
  chat.say('/tasks')
  await chat.shows('queued (follow_up)')
  chat.say('/supersede second')
  await chat.shows('(superseded')
  chat.say('/cancel not needed')
  await chat.shows('You said third')
  chat.process.stdin?.end()
  const { code, out } = await chat.ended
  expect(out).toContain('(cancelled; not needed)')
  expect(code).toBe(0)
  const log = (await landfall(['log'], { cwd })).out
  expect(log).toContain('steering.queued')
  expect((await landfall(['verify'], { cwd })).code).toBe(0)
})

it('approves, denies, answers and acknowledges what waits for somebody', async () => {
  const steps = [call('order'), call('order'), call('ask'), call('post'), call('post'), { text: 'It is {{last}}' }]
  const cwd = folder({ everyTurn: steps })
  const chat = chatIn(cwd)
  chat.say('go')
  await chat.shows('? 1 approval: order {}; /approve or /deny')
  chat.say('/approve')
  await chat.shows('? 2 approval: order')
  chat.say('/deny 2')
  await chat.shows('? 3 input: ask Which colour?')
  chat.say('/answer')
  await chat.shows('USAGE: Say what')
  chat.say('/answer the green one')
  await chat.shows('! A change has an unknown outcome')
  await chat.shows('post held (quarantine)')
  chat.say('/acknowledge')
  await chat.shows('acknowledge: applied')
  await chat.shows('It is')
  chat.process.stdin?.end()
  const { out } = await chat.ended
  expect(out.match(/^! A change/gm)).toHaveLength(2)
})

it('says what was already waiting when it begins, and refuses what makes no sense without ending', async () => {
  const cwd = folder({ everyTurn: [call('order'), { text: 'It is {{last}}' }] })
  const first = chatIn(cwd)
  first.say('go')
  await first.shows('? 1 approval')
  first.process.stdin?.end()
  await first.ended
  const second = chatIn(cwd)
  await second.shows('? 1 approval: order {}')
  for (const line of ['/fly', '/approve 7', '/supersede', '/unblock nothing']) second.say(line)
  await second.shows('NOT_FOUND: No such pause')
  second.say('/approve 1')
  await second.shows('It is ordered')
  second.say('/help')
  await second.shows('/acknowledge [CALL')
  second.say('/quit')
  expect((await second.ended).code).toBe(2)
})

it('gives every event, receipt and outcome as JSON, a line each, with nothing between them', async () => {
  const cwd = folder({ everyTurn: [{ chunks: ['one ', 'two'] }] })
  const { out, err, code } = await landfall(['chat', '--model', 'script:chat.json', '--json'], {
    cwd,
    input: 'go\n/fly\n',
  })
  const values = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })
  const types = values.map(({ type }) => type)
  for (const type of ['receipt', 'task.started', 'model.delta', 'task.completed', 'outcome'])
    expect(types).toContain(type)
  expect(JSON.parse(err)).toMatchObject({ code: 'USAGE' })
  expect(code).toBe(2)
})

it('ends with the code of the last turn when its lines come from a program', async () => {
  const cwd = workFolder()
  expect((await landfall(['chat', '--model', 'script:fail.json'], { cwd, input: 'go\n' })).code).toBe(1)
})

it('shows words as they come at a terminal, with a prompt, and cancels at Ctrl-C; approves, answers, steers and supersedes there too', async ({
  skip,
}) => {
  const has = spawnSync('script', ['--version']).status === 0
  if (!has) {
    if (process.env.CI === 'true') throw new Error('script is missing: apt-get install bsdutils')
    skip('SKIPPED: a pseudo-terminal needs `script`: apt-get install bsdutils')
  }
  const asks = [call('order'), call('ask'), { text: 'It is {{last}}' }]
  const turns = [[{ chunks: ['words ', 'as they ', 'come'] }], [{ hang: true }], asks, [{ hang: true }]]
  const cwd = folder({ turns, everyTurn: [{ text: 'Heard:{{input}}' }] })
  const command = `${process.execPath} ${main} chat --model script:chat.json --tools tools.mjs`
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', NODE_PATH: join(main, '../../../../node_modules') },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  let look = () => {}
  let ended = () => {}
  const shows = (text: string) =>
    new Promise<void>((resolve, reject) => {
      look = () => {
        if (shown.includes(text)) resolve()
      }
      ended = () => reject(new Error(`it ended without "${text}": ${shown}`))
      look()
    })
  child.on('close', () => ended())
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    shown += part
    look()
  })
  await shows('> ')
  child.stdin.write('go\r')
  await shows('words as they come')
  child.stdin.write('again\r')
  await shows('again')
  child.stdin.write('/tasks\r')
  await shows('running (follow_up)')
  child.stdin.write('\u0003')
  await shows('(cancelled')
  // Everything else by keyboard too: a slip is taken back, a line comes again with the arrow.
  child.stdin.write('gp\u007fo on\r')
  await shows('? 1 approval: order')
  child.stdin.write('/approve\r')
  await shows('? 2 input: ask')
  child.stdin.write('/answer green\r')
  await shows('It is green')
  child.stdin.write('wait\r')
  await shows('wait')
  child.stdin.write('/steer hurry\r')
  await shows('steer: queued')
  child.stdin.write('/supersede another\r')
  await shows('Heard:another')
  child.stdin.write('\u001b[A\u001b[A\u001b[A\r')
  await shows('Heard:wait')
  child.stdin.write('\u0004')
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect(code).toBe(0)
})
