import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { get, post } from '../protocol/kit/served.ts'
import { SseClient } from '../protocol/kit/sse-client.ts'
import { issuer } from '../protocol/kit/tokens.ts'
import { landfallProcess, type Started, start, workFolder } from './cli-process.ts'
import { landfall, turnRuns } from './landfall.ts'

vi.setConfig({ testTimeout: 60_000 })

const here = ['serve', '--port', '0']

async function addressOf(server: Started): Promise<string> {
  let text = ''
  server.process.stdout?.on('data', (part) => {
    text += part
  })
  for (;;) {
    const url = /http:\/\/[\d.:]+/.exec(text)?.[0]
    if (url !== undefined) return url
    await new Promise((resolve) => server.process.stdout?.once('data', resolve))
  }
}

it('serves until it is interrupted, and ends in good order: streams with a comment, the store whole', async () => {
  const cwd = workFolder()
  const server = start([...here, '--model', 'script:say.json'], { cwd })
  const url = await addressOf(server)
  const { body } = await post(`${url}/v1/sessions/one/tasks`, { action: 'start', input: 'hello' })
  expect((await get(`${url}/v1/sessions/one/tasks/${body.task}?wait=20`)).body.outcome.message).toBe('Turn 0: hello')
  const client = new SseClient(`${url}/v1/sessions/one/events?after=now`)
  await client.until(({ frames }) => frames.length > 0)
  server.process.kill('SIGTERM')
  const { code, err } = await server.ended
  expect(code).toBe(0)
  expect(err).toContain('There is no key')
  await client.done
  expect(client.frames.at(-1)?.comment).toBe('closed')
  expect((await landfall(['verify', '--all'], { cwd })).out).toMatch(/^ok local\/local\/one /m)
})

it('with --log every line of standard error is one JSON object: ids, codes and counts, no content, and no secret', async () => {
  const cwd = workFolder()
  const words = 'an ordinary sentence that nobody but its owner may read'
  const secrets = ['sk-ant-input00000000000001', 'ghp_argument000000000000000000001', 'sk-ant-answer0000000000001']
  const [input, argument, answer] = secrets
  const calls = [{ name: 'fs.list', arguments: { path: `${argument} ${words}` } }]
  const turns = [[{ text: words, calls }, { chunks: [`${words} sk-ant-`, `${answer?.slice(7)}`] }]]
  writeFileSync(join(cwd, 'keep.json'), JSON.stringify({ name: 'keep', turns, everyTurn: [{ hang: true }] }))
  const server = start([...here, '--model', 'script:keep.json', '--log', 'debug'], { cwd })
  const base = `${await addressOf(server)}/v1/sessions/one`
  const begin = async () => (await post(`${base}/tasks`, { action: 'start', input: `${input} ${words}` })).body.task
  const task = await begin()
  expect((await get(`${base}/tasks/${task}?wait=20`)).body.status).toBe('completed')
  const other = await begin()
  await post(`${base}/tasks/${other}/cancel`, { reason: `${input} ${words}` })
  await get(`${base}/tasks/${other}?wait=20`)
  server.process.kill('SIGTERM')
  const { code, err } = await server.ended
  expect(code).toBe(0)
  const lines = err.trimEnd().split('\n')
  const read = lines.map((line) => JSON.parse(line))
  for (const line of read)
    expect(line).toMatchObject({ level: expect.any(Number), time: expect.any(Number), msg: expect.any(String) })
  expect(read).toContainEqual(
    expect.objectContaining({
      msg: 'task.completed',
      tenant: 'local',
      user: 'local',
      session: 'one',
      task,
      seq: expect.any(Number),
    }),
  )
  expect(read).toContainEqual(
    expect.objectContaining({ msg: 'request answered', route: '/v1/sessions/{session}/tasks', status: 201 }),
  )
  expect(read.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining([
      'model.requested',
      'call.refused',
      'task.cancelled',
      expect.stringContaining('There is no key'),
    ]),
  )
  for (const told of [words, ...secrets]) expect(err).not.toContain(told)
  // They were there to be told.
  const messages = await landfall(['messages', '--session', 'one', '--json'], { cwd })
  for (const kept of [words, ...secrets]) expect(messages.out).toContain(kept)
})

it('carries on the sessions that another process left', async () => {
  const cwd = workFolder()
  const killed = start(['run', 'wait', '--model', 'script:hang.json', '--session', 'left'], { cwd })
  await turnRuns(cwd, '--session', 'left')
  killed.process.kill('SIGKILL')
  await killed.ended
  // The model of the same name, in better health.
  writeFileSync(
    join(cwd, 'awake.json'),
    JSON.stringify({ name: 'hang', everyTurn: [{ text: 'Turn {{turn}}: {{input}}' }] }),
  )
  const server = start([...here, '--model', 'script:awake.json'], { cwd })
  const url = await addressOf(server)
  const [task] = (await get(`${url}/v1/sessions/left/tasks`)).body.items
  const ended = await get(`${url}/v1/sessions/left/tasks/${task.id}?wait=20`)
  expect(ended.body).toMatchObject({ status: 'completed', outcome: { message: 'Turn 0: wait' } })
  server.process.kill('SIGINT')
  expect((await server.ended).code).toBe(0)
})

it('checks tokens with keys of a file or an address, and then nobody is believed without one', async () => {
  const cwd = workFolder()
  const keys = await issuer()
  const set = JSON.stringify({ keys: [keys.publicJwk] })
  writeFileSync(join(cwd, 'keys.json'), set)
  writeFileSync(join(cwd, 'key.pem'), keys.publicPem)
  const site = createServer((_, response) => response.setHeader('content-type', 'application/json').end(set))
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void site.close())
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/set`
  for (const place of ['keys.json', 'key.pem', address]) {
    const server = start([...here, '--jwks', place, '--audience', 'landfall', '--json'], { cwd })
    const url = await addressOf(server)
    const headers = (claims: object) => keys.bearer({ tenant: 'acme', user: 'ann', ...claims })
    expect((await get(`${url}/v1/sessions`)).status, place).toBe(401)
    expect((await get(`${url}/v1/sessions`, { 'x-landfall-user': 'ann' })).status, place).toBe(401)
    expect((await get(`${url}/v1/sessions`, await headers({ aud: 'other' }))).status, place).toBe(401)
    expect((await get(`${url}/v1/sessions`, await headers({ aud: 'landfall' }))).status, place).toBe(200)
    server.process.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  }
})

it('without keys that can be had, a token is neither good nor bad', async () => {
  const cwd = workFolder()
  const keys = await issuer()
  const server = start([...here, '--jwks', 'http://127.0.0.1:9/nothing'], { cwd })
  const url = await addressOf(server)
  const answer = await get(`${url}/v1/sessions`, await keys.bearer({ tenant: 'acme', user: 'ann' }))
  expect(answer).toMatchObject({ status: 503, body: { code: 'IDENTITY_UNAVAILABLE', retryable: true } })
  server.process.kill('SIGTERM')
  await server.ended
})

it('refuses to be reached from elsewhere without keys, keys that are none, and a port that is taken', async () => {
  const cwd = workFolder()
  const open = await landfall([...here, '--host', '0.0.0.0'], { cwd })
  expect(open).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^INVALID_INPUT: .*loopback/) })
  writeFileSync(join(cwd, 'shared.json'), JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }))
  const shared = await landfall([...here, '--jwks', 'shared.json'], { cwd })
  expect(shared).toMatchObject({ code: 2, err: expect.stringMatching(/^INVALID_INPUT: .*asymmetric/) })
  expect((await landfall(['serve', '--port', 'x'], { cwd })).code).toBe(2)
  const first = start(here, { cwd })
  const port = new URL(await addressOf(first)).port
  const second = await landfall(['serve', '--port', port], { cwd })
  expect(second).toMatchObject({ code: 1, err: expect.stringMatching(/^ADDRESS_UNAVAILABLE: /m) })
  expect(first.process.kill('SIGINT')).toBe(true)
  await first.ended
})

it('npm start brings up a server, runs a first turn through it, shows its stream and says where to look', async () => {
  const cwd = workFolder()
  writeFileSync(join(cwd, 'README.md'), '# Heather grows here')
  const { code, out, err } = await landfallProcess(['start', '--port', '0'], { cwd })
  expect(code).toBe(0)
  expect(err).toMatch(/Landfall listens on http:\/\/127\.0\.0\.1:\d+/)
  expect(err.match(/^ {2}curl -s/gm)).toHaveLength(3)
  for (const shown of ['task.created', 'call.requested fs.list', 'call.finished', 'task.completed', 'landfall serve'])
    expect(err).toContain(shown)
  expect(out).toContain('Heather grows here')
  const json = await landfall(['start', '--port', '0', '--json'], { cwd })
  expect(JSON.parse(json.out)).toMatchObject({ status: 'completed', url: expect.stringContaining('127.0.0.1') })
})
