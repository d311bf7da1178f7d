import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string; readonly name?: string }
}

export interface Taken {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** What a server does with one message; it leaves those that it says nothing to. */
export type Reply = (response: ServerResponse, message: Message) => boolean

/**
 * A server over HTTP whose every answer is the test's: what `reply` does not answer is answered as the protocol wants it, with
 * `tools`, and a call with `result`.
 */
export async function plainServer(of: { tools?: readonly object[]; result?: object; reply?: Reply }) {
  const {
    tools = [{ name: 'pay', inputSchema: { type: 'object' } }],
    result = { content: [] },
    reply = () => false,
  } = of
  const taken: Taken[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const message = JSON.parse(body) as Message
    taken.push({ method: message.method, headers: request.headers })
    if (reply(response, message)) return
    if (message.id === undefined) return void response.writeHead(202).end()
    const { protocolVersion } = message.params ?? {}
    const answers: Readonly<Record<string, object>> = {
      initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
      'tools/list': { tools },
    }
    const answer = answers[message.method] ?? result
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const calls = () => taken.filter(({ method }) => method === 'tools/call').length
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, taken, calls }
}
