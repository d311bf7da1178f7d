import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Redactor } from '../../src/facts/ports.ts'
import { get, post, type Served, served } from './kit/served.ts'
import { SseClient } from './kit/sse-client.ts'
import { base, begun, hang } from './kit/turns.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Longer than any test: whoever waits for it fails. */
const forEver = 600_000
const scope = { tenant: 'local', user: 'local', session: 'one' }

/** Sends these bytes and reads nothing of what comes back. */
async function deaf({ url }: Served, request: string): Promise<Socket> {
  const { port, host } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.pause()
  socket.write(request.replace('Host:', `Host: ${host}`))
  return socket
}

const asking = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost:\r\n`

it('clients that never read, or never end what they send, do not hold a closing server up', async () => {
  const asItIs: Redactor = { name: 'none', text: (text) => text, value: (value) => value }
  const chunks = Array.from({ length: 100 }, () => 'so many words '.repeat(8_192))
  const on = await served({ redactor: asItIs, script: { turns: [[{ chunks }]] }, limits: { graceMs: forEver } })
  const reader = new SseClient(`${base(on)}/events?type=task.completed`)
  await reader.until(({ frames }) => frames.length > 0)
  await Promise.all([
    deaf(on, `${asking('GET', '/v1/sessions/one/events')}\r\n`),
    deaf(on, `${asking('POST', '/v1/sessions/one/tasks')}Content-Length: 99\r\n\r\n{"action"`),
    deaf(on, asking('GET', '/healthz')),
  ])
  await begun(on)
  await reader.until(({ facts }) => facts.length === 1)
  // More than the buffers of a connection take, in one answer.
  await deaf(on, `${asking('GET', '/v1/sessions/one/messages')}\r\n`)
  await get(`${on.url}/healthz`)
  await on.close()
  await reader.done
  expect(reader.frames.at(-1)?.comment).toBe('closed')
})

it('a held answer does not hold up a server that leaves the work to its host', async () => {
  const on = await served({
    script: hang,
    server: { ownsRuntime: false },
    limits: { graceMs: forEver, httpRequestsInFlight: 1 },
  })
  const task = await begun(on)
  const held = get(`${base(on)}/tasks/${task}?wait=300`)
  while ((await get(`${on.url}/healthz`)).status !== 429) await new Promise(setImmediate)
  await on.server.close()
  expect(await held).toMatchObject({ status: 200, body: { id: task, state: 'running' } })
  await on.runtime.session(scope).cancel()
})

it('a turn that hangs is waited for as long as the grace; meanwhile whoever comes is told 503, and nothing begins', async () => {
  let skew = 0
  const clock = { now: () => Date.now() + skew }
  const on = await served({ script: hang, clock, limits: { graceMs: forEver } })
  await begun(on)
  const before = await on.runtime.session(scope).log()
  let over = false
  const closing = on.server.close().then(() => {
    over = true
  })
  const refused = { status: 503, body: { code: 'SHUTTING_DOWN' } }
  expect(await post(`${base(on)}/tasks`, { action: 'follow_up', input: 'y' })).toMatchObject(refused)
  expect(await post(`${on.url}/v1/sessions/other/tasks`, { action: 'start', input: 'y' })).toMatchObject(refused)
  expect(await get(`${base(on)}/log`)).toMatchObject(refused)
  expect(await get(`${on.url}/healthz`)).toMatchObject(refused)
  const command = () => on.runtime.session(scope).cancel()
  await expect(command()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  expect(over).toBe(false)
  skew = forEver
  await closing
  // Nothing was aborted and nothing was written: the next owner finds the turn as after a crash.
  expect(await on.log.head(scope)).toMatchObject({ seq: before.length, owner: null })
  await expect(fetch(`${on.url}/healthz`)).rejects.toThrow()
})

it('a runtime closes at once when nobody reads what it tells', async () => {
  const on = await served({ limits: { graceMs: forEver } })
  const unread = on.runtime.events(scope)[Symbol.asyncIterator]()
  const task = await begun(on)
  await get(`${base(on)}/tasks/${task}?wait=30`)
  await on.runtime.close()
  expect((await unread.next()).value).toMatchObject({ type: 'session.opened' })
  const command = () => on.runtime.session(scope).start('more')
  await expect((async () => command())()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
})
