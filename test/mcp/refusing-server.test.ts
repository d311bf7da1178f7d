import { describe, expect, it } from 'vitest'
import { mcpProvider } from '../../src/capabilities/mcp/mcp-provider.ts'
import { isLandfallError } from '../../src/facts/errors.ts'
import { plainServer, type Reply } from './kit/plain-server.ts'
import { hurried, usingServer } from './kit/using-server.ts'

const headers = { authorization: 'Bearer of-the-host', 'x-key': 'secret' }
const provider = (url: string, effect: 'read' | 'mutate' = 'mutate') =>
  mcpProvider({ name: 'here', url, headers, trust: 'operator', effects: { pay: effect } })

const answering =
  (method: string, status: number, more: Readonly<Record<string, string>> = {}): Reply =>
  (response, message) => {
    if (message.method !== method) return false
    response.writeHead(status, more).end('<p>secret words of a proxy</p>')
    return true
  }

async function refusalOf(url: string) {
  const error = await usingServer(provider(url), [], { scheduler: hurried }).then(
    () => null,
    (reason: unknown) => reason,
  )
  return isLandfallError(error) ? error : null
}

/** What becomes of one call, and what the model is told of it. */
async function callOf(url: string, effect: 'read' | 'mutate') {
  const { turn, facts, session } = await usingServer(provider(url, effect), [[[['pay']]]], { scheduler: hurried })
  const outcome = await turn()
  const [finished] = await facts('call.finished')
  const told = (await session.messages()).find(({ role }) => role === 'tool')?.content ?? ''
  return { outcome, finished: finished?.data, told, started: (await facts('call.started')).length }
}

const refusals = [
  { status: 401, code: 'MCP_UNAUTHORIZED', says: /headers of its provider.*status 401/, retryable: false },
  { status: 403, code: 'MCP_FORBIDDEN', says: /Ask who runs it.*status 403/, retryable: false },
  { status: 429, code: 'MCP_RATE_LIMITED', says: /Try again later \(it asks for 7 s\).*status 429/, retryable: true },
]

describe('a server that refuses', () => {
  it.each(refusals)('with $status at the beginning fails the opening, at once, with what to do', async (of) => {
    const server = await plainServer({ reply: answering('initialize', of.status, { 'retry-after': '7' }) })
    const refused = await refusalOf(server.url)
    expect(refused).toMatchObject({
      code: of.code,
      retryable: of.retryable,
      details: { server: 'here', status: of.status },
    })
    expect(refused?.message).toMatch(of.says)
    expect(JSON.stringify(refused)).not.toContain('proxy')
    expect(server.taken).toHaveLength(1)
  })

  it.each(refusals)('a call with $status has not done it: it failed, and is not sent again', async (of) => {
    const server = await plainServer({ reply: answering('tools/call', of.status, { 'retry-after': '7' }) })
    const { finished, told } = await callOf(server.url, 'mutate')
    expect(finished).toMatchObject({ outcome: 'failed', code: of.code })
    expect(told).toMatch(of.says)
    expect(told).not.toContain('proxy')
    expect(server.calls()).toBe(1)
  })

  it.each([
    { status: 404, says: /status 404\. See that its url is right/ },
    { status: 500, says: /status 500\. See its log/ },
    { status: 503, says: /status 503\. See its log/ },
  ])('with $status at the beginning is not to be had, and the status is told', async ({ status, says }) => {
    const refused = await refusalOf((await plainServer({ reply: answering('initialize', status) })).url)
    expect(refused).toMatchObject({ code: 'MCP_UNAVAILABLE', retryable: true, details: { status } })
    expect(refused?.message).toMatch(says)
  })

  it.each([500, 502, 503])(
    'a read with %i has failed, with the status, and the server is left alone',
    async (status) => {
      const server = await plainServer({ reply: answering('tools/call', status) })
      const { finished, told } = await callOf(server.url, 'read')
      expect(finished).toMatchObject({ outcome: 'failed', code: 'MCP_UNAVAILABLE' })
      expect(told).toContain(`status ${status}. See its log`)
      expect(server.calls()).toBe(1)
    },
  )

  it.each([408, 499, 500, 502, 503])(
    'a change with %i may have done it: unknown, and not sent again',
    async (status) => {
      const server = await plainServer({ reply: answering('tools/call', status) })
      const { outcome, finished } = await callOf(server.url, 'mutate')
      expect(outcome).toMatchObject({ calls: { unknownMutating: 1, failed: 0 } })
      expect(finished).toBeUndefined()
      expect(server.calls()).toBe(1)
    },
  )

  it('a call with 404 has lost its session there: another one is begun, and the call is sent once more', async () => {
    let first = true
    const server = await plainServer({
      result: { content: [{ type: 'text', text: 'paid' }] },
      reply: (response, message) => {
        if (message.method !== 'tools/call' || !first) return false
        first = false
        response.writeHead(404).end()
        return true
      },
    })
    expect((await callOf(server.url, 'mutate')).outcome).toMatchObject({ message: 'paid' })
    expect(server.calls()).toBe(2)
  })
})

describe('a server that sends us on', () => {
  it.each([301, 302, 303, 307, 308])(
    'with %i to another origin is not followed, so no header leaves',
    async (status) => {
      const other = await plainServer({})
      for (const method of ['initialize', 'tools/call']) {
        const server = await plainServer({ reply: answering(method, status, { location: other.url }) })
        const of = { code: 'MCP_REDIRECTED', message: expect.stringContaining(new URL(other.url).origin) }
        if (method === 'initialize') expect(await refusalOf(server.url)).toMatchObject(of)
        else {
          const { finished, told } = await callOf(server.url, 'mutate')
          expect(finished).toMatchObject({ outcome: 'failed', code: of.code })
          expect(JSON.parse(told).error).toMatchObject(of)
        }
        expect(server.taken[0]?.headers).toMatchObject(headers)
      }
      expect(other.taken).toEqual([])
    },
  )

  it('to nowhere is not followed either', async () => {
    const location = 'http://['
    const refused = await refusalOf((await plainServer({ reply: answering('initialize', 307, { location }) })).url)
    expect(refused).toMatchObject({ code: 'MCP_REDIRECTED', details: { server: 'here' } })
  })

  it('to another path of its own is followed, with the headers', async () => {
    let sentOn = 0
    const server = await plainServer({
      result: { content: [{ type: 'text', text: 'paid' }] },
      reply: (response, message) => {
        if (message.method !== 'tools/call' || sentOn > 0) return false
        sentOn += 1
        response.writeHead(307, { location: '/elsewhere' }).end()
        return true
      },
    })
    expect((await callOf(server.url, 'mutate')).outcome).toMatchObject({ message: 'paid' })
    const calls = server.taken.filter(({ method }) => method === 'tools/call')
    expect(calls.map(({ headers: { authorization } }) => authorization)).toEqual(Array(2).fill(headers.authorization))
  })
})
