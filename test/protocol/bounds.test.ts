import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import type { Script } from '../../src/models/script.ts'
import { get, post, type Served, served } from './kit/served.ts'
import { SseClient } from './kit/sse-client.ts'

vi.setConfig({ testTimeout: 30_000 })

const tasks = ({ url }: Served) => `${url}/v1/sessions/one/tasks`
const hang: Script = { name: 'hang', everyTurn: [{ hang: true }] }

/** What comes back for these bytes until the other side has nothing more to say, or says the wanted text. */
function exchange(url: string, request: string | Buffer, wanted = '\u0000'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
    let text = ''
    socket.on('data', (part) => {
      text += String(part)
      if (text.includes(wanted)) socket.destroy()
    })
    socket.on('close', () => resolve(text))
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? undefined : reject(error)))
    socket.write(request)
  })
}

describe('a request beyond its bound', () => {
  it('of a body, announced or not, is refused before it is taken', async () => {
    const on = await served({ limits: { httpBodyBytes: 1_000 } })
    const long = { action: 'start', input: 'x'.repeat(1_000) }
    const expected = {
      status: 413,
      body: { code: 'LIMIT_EXCEEDED', details: { which: 'httpBodyBytes', bound: 1_000 } },
    }
    expect(await post(tasks(on), long)).toMatchObject(expected)
    const head = `POST /v1/sessions/one/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\n`
    const endless = `${head}Transfer-Encoding: chunked\r\n\r\n3e8\r\n${'{'.repeat(1_000)}\r\n3e8\r\n${'x'.repeat(1_000)}\r\n`
    expect(await exchange(on.url, endless, 'httpBodyBytes')).toMatch(/^HTTP\/1\.1 413 /)
    expect(await exchange(on.url, `${head}Content-Length: 99999999\r\n\r\n{`, 'httpBodyBytes')).toMatch(
      /^HTTP\/1\.1 413 /,
    )
    expect((await on.runtime.sessions({ tenant: 'local', user: 'local' })).length).toBe(0)
  })

  it('of headers is a problem too', async () => {
    const on = await served({ limits: { httpHeaderBytes: 2_000 } })
    const answer = await exchange(on.url, `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { which: 'httpHeaderBytes' },
    })
  })

  it('of a page is told, not cut', async () => {
    const on = await served()
    for (const list of ['log', 'messages', 'tasks', 'calls', 'queue', 'pauses'])
      expect(await get(`${on.url}/v1/sessions/one/${list}?limit=1001`), list).toMatchObject({
        status: 413,
        body: { details: { which: 'pageMaxItems', bound: 1_000, got: 1_001 } },
      })
    expect((await get(`${on.url}/v1/sessions/one/log?limit=0`)).status).toBe(400)
  })

  it('of a wait or of requests at once is refused', async () => {
    const on = await served({ script: hang, limits: { httpRequestsInFlight: 3 } })
    const { body } = await post(tasks(on), { action: 'start', input: 'x' })
    const task = `${tasks(on)}/${body.task}`
    expect(await get(`${task}?wait=301`)).toMatchObject({ status: 413, body: { details: { which: 'httpWaitMs' } } })
    const held = [1, 2, 3].map(() => get(`${task}?wait=1`))
    const refused = async () => {
      for (;;) {
        const answer = await get(task)
        if (answer.status !== 200) return answer
      }
    }
    const late = await refused()
    expect(late).toMatchObject({
      status: 429,
      body: { retryable: true, details: { which: 'httpRequestsInFlight', bound: 3 } },
    })
    for (const answer of await Promise.all(held))
      expect(answer).toMatchObject({ status: 200, body: { state: 'running' } })
    expect((await get(task)).status).toBe(200)
  })
})

describe('what is no request that it could be', () => {
  it.each([
    ['no JSON', '{"action":'],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['JSON that is no object', '[]'],
    ['nested too deeply', `{"action":"start","input":"x","settings":{"a":${'['.repeat(70)}${']'.repeat(70)}}}`],
    ['a hundred thousand brackets', '['.repeat(100_000)],
    ['an unknown field', '{"action":"start","input":"x","more":1}'],
    ['an empty input', '{"action":"start","input":" "}'],
    ['half a character', '{"action":"start","input":"\\ud800"}'],
    ['a command id that is a credential', '{"action":"start","input":"x","commandId":"sk-ant-abcdefghij0123456789"}'],
  ])('%s is malformed, and says where without repeating it', async (_name, body) => {
    const on = await served()
    const response = await fetch(tasks(on), { method: 'POST', body: body as string })
    const problem = await response.json()
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(problem).toMatchObject({ type: 'about:blank', status: 400, code: 'INVALID_INPUT', retryable: false })
    expect(JSON.stringify(problem)).not.toContain('sk-ant')
  })

  it.each(['/v1/nothing', '/v1/sessions/one/tasks/x/fly', '/%', '/v1/sessions/%ff', '/v1/sessions//log'])(
    '%s is nowhere',
    async (path) => {
      const on = await served()
      const answer = await exchange(on.url, `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 404 /)
      expect(answer).toContain('"code":"NOT_FOUND"')
    },
  )

  it.each([
    ['without a host', 'GET /healthz HTTP/1.1\r\n'],
    ['of an old version, without a host', 'GET /healthz HTTP/1.0\r\n'],
    ['for an empty host', 'GET /healthz HTTP/1.1\r\nHost: \r\n'],
    ['for a host that is none', 'GET /healthz HTTP/1.1\r\nHost: a b\r\n'],
    ['for a host with a path', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1/healthz?\r\n'],
    ['for a port that is none', 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:99999\r\n'],
    ['for no path', 'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n'],
    ['for another scheme', 'GET ftp://127.0.0.1/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n'],
  ])('HTTP %s is a problem, not an empty answer', async (_name, head) => {
    const on = await served()
    const answer = await exchange(on.url, `${head}Connection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toMatch(/^content-type: application\/problem\+json/im)
    expect(answer).toContain('"code":"INVALID_INPUT"')
  })

  it('an expectation that nobody knows is passed over', async () => {
    const on = await served()
    const head = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: the-best\r\nConnection: close\r\n\r\n'
    expect(await exchange(on.url, head)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"ok":true\}/)
  })

  it('no HTTP at all is a problem as well', async () => {
    const on = await served()
    const answer = await exchange(on.url, 'HELLO\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"code":"INVALID_INPUT"')
  })
})

describe('a server that closes', () => {
  it('takes nothing new, records what was under way, ends streams with a comment and lets go of its sessions', async () => {
    const slow = { name: 'slow', everyTurn: [{ delayMs: 300, text: 'done' }] }
    const on = await served({ script: slow, limits: { graceMs: 5_000 } })
    const client = new SseClient(`${on.url}/v1/sessions/one/events`)
    await client.until(({ frames }) => frames.length > 0)
    const { body } = await post(tasks(on), { action: 'start', input: 'x' })
    const waiting = get(`${tasks(on)}/${body.task}?wait=60`)
    await client.until(({ facts }) => facts.some(({ type }) => type === 'model.requested'))
    const keptAlive = get(`${on.url}/healthz`)
    await keptAlive
    const closing = on.server.close()
    await client.done
    expect(client.frames.at(-1)?.comment).toBe('closed')
    expect(client.events.at(-1)).toMatchObject({ type: 'bus.closed', reason: 'closed' })
    const answered = await waiting
    expect([200, 503]).toContain(answered.status)
    await closing
    await expect(fetch(`${on.url}/healthz`)).rejects.toThrow()
    const head = await on.log.head({ tenant: 'local', user: 'local', session: 'one' })
    expect(head?.owner).toBeNull()
    const log = await on.runtime.session({ tenant: 'local', user: 'local', session: 'one' }).log()
    expect(log.some(({ type }) => type === 'model.completed')).toBe(true)
    expect(client.facts).toHaveLength(log.length)
  })

  it('without its runtime leaves the sessions to the host', async () => {
    const on = await served({ script: hang, server: { ownsRuntime: false } })
    const client = new SseClient(`${on.url}/v1/sessions/one/events`)
    await post(tasks(on), { action: 'start', input: 'x' })
    await client.until(({ facts }) => facts.length > 0)
    await on.server.close()
    await client.done
    expect(client.frames.at(-1)?.comment).toBe('the server is shutting down')
    const receipt = await on.runtime.session({ tenant: 'local', user: 'local', session: 'one' }).cancel()
    expect(receipt.result).toBe('applied')
  })

  it('refuses with 503 a command that is still on its way', async () => {
    const on = await served({ script: hang, limits: { graceMs: 1_000 } })
    const { port } = new URL(on.url)
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write('POST /v1/sessions/one/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 31\r\n\r\n')
    await post(tasks(on), { action: 'start', input: 'x' })
    const closing = on.server.close()
    const text = new Promise<string>((resolve) => socket.once('data', (part) => resolve(String(part))))
    socket.write('{"action":"start","input":"xy"}')
    expect(await text).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1[\s\S]*SHUTTING_DOWN/i)
    socket.destroy()
    await closing
  })
})
