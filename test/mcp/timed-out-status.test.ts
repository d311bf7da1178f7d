import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { mcpProvider } from '../../src/capabilities/mcp/mcp-provider.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

/** A server that answers each call of its one tool with a status, and counts the calls. */
async function answeringWith(status: number): Promise<{ url: string; calls: () => number }> {
  let calls = 0
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method, params } = JSON.parse(body) as Message
    const answer = (result: object) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'initialize')
      return answer({
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      })
    if (method === 'tools/list') return answer({ tools: [{ name: 'pay', inputSchema: { type: 'object' } }] })
    calls += 1
    return response.writeHead(status).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls: () => calls }
}

it.each([408, 499])(
  'a change that was answered with %i may have begun: unknown, and not sent again',
  async (status) => {
    const server = await answeringWith(status)
    const model = scriptedModel({ everyTurn: [{ calls: [{ name: 'mcp:s:pay', arguments: {} }] }, { text: 'so' }] })
    const catalog = [mcpProvider({ name: 's', url: server.url, trust: 'operator' })]
    const runtime = await openRuntime({ log: memoryLog(), model, catalog })
    const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
    expect(await (await session.start('Pay.')).outcome()).toMatchObject({ calls: { unknownMutating: 1, failed: 0 } })
    expect(server.calls()).toBe(1)
    await runtime.close()
  },
)

const server = { name: 's', command: ['server'] }
const address = { name: 's', url: 'http://127.0.0.1/' }
it.each([
  { ...server, effects: null },
  { ...server, env: null },
  { ...server, env: { KEY: 5 } },
  { ...server, cwd: 7 },
  { ...server, confirm: 'twice' },
  { ...server, load: 'later' },
  { ...server, timeoutMs: -1 },
  { ...server, command: [] },
  { ...server, command: ['a\0b'] },
  { ...address, headers: null },
  { ...address, headers: { key: 'two\nlines' } },
  { name: 's', url: 'http://ada:secret@127.0.0.1/' },
])('options that no server could be had with are refused at once: %j', (options) => {
  expect(() => mcpProvider(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})
