import { expect, it } from 'vitest'
import { mcpProvider } from '../../src/capabilities/mcp/mcp-provider.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { plainServer } from './kit/plain-server.ts'

it.each([408, 499])(
  'a change that was answered with %i may have begun: unknown, and not sent again',
  async (status) => {
    const server = await plainServer({
      reply: (response, { method }) => {
        if (method !== 'tools/call') return false
        response.writeHead(status).end()
        return true
      },
    })
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
  { ...server, headers: {} },
  { ...address, args: ['x'] },
  { ...address, env: {} },
  { ...server, command: [] },
  { ...server, command: ['a\0b'] },
  { ...address, headers: null },
  { ...address, headers: { key: 'two\nlines' } },
  { name: 's', url: 'http://ada:secret@127.0.0.1/' },
])('options that no server could be had with are refused at once: %j', (options) => {
  expect(() => mcpProvider(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})
