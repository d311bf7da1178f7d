import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/*
 * A real MCP server for tests: `server.mjs FOLDER [http PORT]`. What it does is written into FOLDER, one line a happening, and what
 * it offers is read from there, so that a test may change it.
 */
const [folder, mode, port = '0'] = process.argv.slice(2)
const note = (line) => appendFileSync(join(folder, 'happened'), `${line}\n`)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const object = (properties) => ({ type: 'object', properties, additionalProperties: false })

const tools = [
  {
    name: 'echo',
    description: 'Says it again.',
    inputSchema: { ...object({ text: { type: 'string' } }), required: ['text'] },
    annotations: { readOnlyHint: true },
  },
  { name: 'order', description: 'Orders.', inputSchema: object({ sku: { type: 'string' } }) },
  { name: 'set', inputSchema: object({}), annotations: { idempotentHint: true } },
  { name: 'die', inputSchema: object({}) },
  { name: 'die_reading', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'die_once', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'linger', inputSchema: object({}) },
  { name: 'linger_reading', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'finish_late', inputSchema: object({}) },
  { name: 'give', inputSchema: object({ what: { type: 'string' } }), annotations: { readOnlyHint: true } },
  { name: 'give_changed', inputSchema: object({ what: { type: 'string' } }) },
  { name: 'nonsense', inputSchema: object({}) },
  { name: 'nonsense_read', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'shout', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'steps', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'change', inputSchema: object({}) },
  { name: 'pid', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'leave', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'keep_changing', inputSchema: object({ times: { type: 'integer' } }), annotations: { readOnlyHint: true } },
  { name: 'environment', inputSchema: object({}), annotations: { readOnlyHint: true } },
  { name: 'spaced name', inputSchema: object({}) },
  { name: 'broken', inputSchema: { type: 'object', properties: { x: { $ref: '#/nowhere' } } } },
]

const structured = { celsius: 21, place: 'Łódź' }
const gifts = {
  big: () => text('x'.repeat(200_000)),
  'big structured': () => ({ ...text('short'), structuredContent: { all: 'x'.repeat(200_000) } }),
  'big resource': () => ({ content: [{ type: 'resource', resource: { uri: 'x:1', text: 'y'.repeat(200_000) } }] }),
  'big link': () => ({ content: [{ type: 'resource_link', uri: `x:${'l'.repeat(200_000)}`, name: 'l' }] }),
  'big error': () => ({ ...text('e'.repeat(200_000)), isError: true }),
  huge: () => text('h'.repeat(5 * 1024 * 1024)),
  structured: () => ({ ...text(JSON.stringify(structured)), structuredContent: structured }),
  both: () => ({ ...text('It is warm.'), structuredContent: structured }),
  image: () => ({
    content: [
      { type: 'text', text: 'See:' },
      { type: 'image', mimeType: 'image/png', data: Buffer.alloc(300_000).toString('base64') },
    ],
  }),
  audio: () => ({ content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }] }),
  resources: () => ({
    content: [
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'bee' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA', mimeType: 'x/y' } },
    ],
  }),
  error: () => ({ ...text('there is no such city'), isError: true }),
  throw: () => {
    throw new Error('the tool threw')
  },
  nothing: () => ({ content: [] }),
}

const calls = {
  echo: ({ text: said }) => text(`echo: ${said}`),
  order: ({ sku }) => {
    note(`ordered ${sku}`)
    return text('ordered')
  },
  set: () => text('set'),
  // Past the SDK, which would not let a server answer so.
  nonsense: (_args, { requestId }) => {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: requestId, result: { content: 'no list' } })}\n`)
    return pause(60_000)
  },
  nonsense_read: (args, extra) => calls.nonsense(args, extra),
  die: async () => {
    note('dying')
    await pause(30)
    process.kill(process.pid, 'SIGKILL')
    await pause(60_000)
  },
  die_reading: () => calls.die(),
  die_once: () => (readFileSync(join(folder, 'happened'), 'utf8').includes('dying') ? text('back again') : calls.die()),
  linger: async (_args, { signal }) => {
    note('lingering')
    signal.addEventListener('abort', () => note('told to stop'))
    await pause(60_000)
  },
  linger_reading: (args, extra) => calls.linger(args, extra),
  finish_late: async () => {
    note('finishing')
    await pause(300)
    note('finished')
    return text('finished after all')
  },
  give: ({ what }) => gifts[what](),
  give_changed: ({ what }) => gifts[what](),
  shout: async (_args, { sendNotification, _meta }) => {
    const params = { progressToken: _meta?.progressToken, progress: 1, message: 'm'.repeat(100_000) }
    await sendNotification({ method: 'notifications/progress', params })
    return text('shouted')
  },
  steps: async (_args, { sendNotification, _meta }) => {
    const progressToken = _meta?.progressToken
    for (const progress of [1, 2])
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2, message: 'step' },
      })
    return text('stepped')
  },
  pid: () => {
    const child = spawn('sleep', ['600'])
    return text(`${process.pid} ${child.pid}`)
  },
  leave: () => {
    // A session of its own, and with it another process group.
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    return text(`${child.pid}`)
  },
  environment: () => text(JSON.stringify(Object.keys(process.env).sort())),
}

function offered() {
  const file = join(folder, 'tools.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : tools
}

function makeServer() {
  const server = new Server({ name: 'for-tests', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  let version = 0
  server.setRequestHandler(ListToolsRequestSchema, () => {
    note('listed')
    return { tools: version === 0 ? offered() : [...offered(), { name: `extra${version}`, inputSchema: object({}) }] }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    if (params.name === 'change') {
      writeFileSync(
        join(folder, 'tools.json'),
        JSON.stringify(
          tools.map((tool) =>
            tool.name === 'echo' ? { ...tool, inputSchema: object({ words: { type: 'string' } }) } : tool,
          ),
        ),
      )
      await server.notification({ method: 'notifications/tools/list_changed' })
      return text('changed')
    }
    if (params.name === 'keep_changing') {
      for (let time = 0; time < params.arguments.times; time += 1) {
        version += 1
        await server.notification({ method: 'notifications/tools/list_changed' })
      }
      return text('changed and changed')
    }
    return calls[params.name](params.arguments ?? {}, extra)
  })
  return server
}

note(`pid ${process.pid}`)
if (mode !== 'http') await makeServer().connect(new StdioServerTransport())
else {
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js')
  const sessions = new Map()
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id']
    let transport = sessions.get(id)
    note(`${request.method} ${request.headers.authorization ?? 'nobody'}`)
    if (transport === undefined && id !== undefined) return response.writeHead(404).end('no such session')
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (session) => void sessions.set(session, transport),
      })
      await makeServer().connect(transport)
    }
    await transport.handleRequest(request, response)
  })
  http.listen(Number(port), '127.0.0.1', () => process.stdout.write(String(http.address().port)))
}
