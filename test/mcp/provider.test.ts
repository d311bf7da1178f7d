import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { mcpProvider } from '../../src/capabilities/mcp/mcp-provider.ts'
import { isLandfallError } from '../../src/facts/errors.ts'
import { silentLogger } from '../../src/facts/system-ports.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import { isGone, mcpServer } from './kit/test-server.ts'
import { hurried, sharedServer, usingServer } from './kit/using-server.ts'

// Servers are processes of their own, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const echo = ['echo', { text: 'hallo' }] as const

/** One process for all tests that do not ask how a server is reached. */
let shared: Awaited<ReturnType<typeof sharedServer>>
beforeAll(async () => {
  shared = await sharedServer('http')
}, 60_000)
afterAll(() => shared.close())

describe('a server that nobody vouches for', () => {
  it('is not to be used, unless the policy of the host says so', async () => {
    const { turn, facts } = await usingServer(shared.server.provider({ trust: 'untrusted' }), [[[echo]]])
    await turn()
    expect((await facts('task.started'))[0]?.data.capabilities).toEqual([])
    expect((await facts('call.refused')).map(({ data }) => data.code)).toEqual(['CAPABILITY_NOT_LOADED'])
  })

  it('has its descriptions withheld until the policy lets a task inspect it', async () => {
    const shown = async (level: 'discover' | 'inspect') => {
      const provider = mcpProvider({ ...shared.server.options })
      const policy = () => ({ level, confirm: 'none' as const })
      const { turn } = await usingServer(provider, [[[['capabilities_list']]]], { policy })
      const { items } = JSON.parse((await turn()).message ?? '') as {
        items: { id: string; description: string | null }[]
      }
      return items.find(({ id }) => id === 'mcp:here:echo')?.description
    }
    expect(await shown('discover')).toBeNull()
    expect(await shown('inspect')).toBe('Says it again.')
  })

  it('is not believed when it says that a tool only reads', async () => {
    const policy = () => ({ level: 'execute' as const, confirm: 'none' as const })
    const effects = { set: 'idempotent' as const }
    const calls = [echo, ['set'] as const, ['order', { sku: 'tea' }] as const]
    const provider = shared.server.provider({ trust: 'untrusted', effects })
    const { turn, session } = await usingServer(provider, [[calls]], { policy })
    await turn()
    expect((await session.calls()).map(({ effect }) => effect)).toEqual(['mutate', 'idempotent', 'mutate'])
  })
})

describe('a server that the operator vouches for', () => {
  it('says what its tools do, and the operator has the last word', async () => {
    const calls = [echo, ['set'] as const, ['order', { sku: 'tea' }] as const]
    const effectsWith = async (effects: Record<string, 'read' | 'mutate'>) => {
      const { turn, session } = await usingServer(shared.server.provider({ effects }), [[calls]])
      await turn()
      return (await session.calls()).map(({ effect }) => effect)
    }
    expect(await effectsWith({})).toEqual(['read', 'idempotent', 'mutate'])
    expect(await effectsWith({ echo: 'mutate', order: 'read' })).toEqual(['mutate', 'idempotent', 'read'])
  })

  it('has those of its tools left out that no catalog can hold, and somebody is told', async () => {
    const warnings: object[] = []
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) }
    const { runtime } = await usingServer(shared.server.provider(), [], { logger })
    expect(warnings).toMatchObject([{ tool: 'spaced name' }, { tool: 'broken' }])
    expect(runtime.catalog.generation).toBe(1)
  })
})

describe('a contract that changes', () => {
  const own = defineTool({ name: 'own', description: 'x', input: z.strictObject({}), effect: 'read', run: () => 'own' })

  it('makes references to the server stale, and no others; the next turn has the new contract', async () => {
    const server = await mcpServer('stdio')
    const turns = [[[['change']], [echo], [echo]], [[['echo', { words: 'new' }]]]] as const
    const { turn, facts, runtime } = await usingServer(server.provider(), turns, { catalog: [own] })
    await turn()
    const codes = [...(await facts('call.refused')), ...(await facts('call.finished'))].map(({ data }) => data.code)
    expect(codes.filter((code) => code === 'STALE_CAPABILITY')).toHaveLength(2)
    expect((await facts('call.refused')).map(({ data }) => data.code)).toContain('STALE_CAPABILITY')
    expect(runtime.catalog.generation).toBe(2)
    expect(await turn()).toMatchObject({ message: 'echo: undefined' })
    const [before, after] = (await facts('task.started')).map(({ data }) => data)
    const refOf = (data: typeof before, id: string) => data?.capabilities.find((ref) => ref.id === id)
    expect(refOf(before, 'mcp:here:echo')?.binding).toBe(1)
    expect(refOf(after, 'mcp:here:echo')?.binding).toBe(2)
    expect(refOf(after, 'mcp:here:echo')?.contract).not.toBe(refOf(before, 'mcp:here:echo')?.contract)
    expect(refOf(after, 'tool:own')).toEqual(refOf(before, 'tool:own'))
  })

  it('of the host leaves those of servers as they are', async () => {
    const { turn, runtime } = await usingServer(shared.server.provider(), [[[echo]]], { catalog: [own] })
    runtime.catalog.replace([])
    expect(await turn()).toMatchObject({ message: 'echo: hallo' })
  })
})

describe('the process of a server', () => {
  it('is gone at the end with its process group, and was shown little of our environment', async () => {
    const server = await mcpServer('stdio')
    process.env.LANDFALL_TEST_SECRET = 'hidden'
    const provider = server.provider({ env: { GIVEN: 'yes' } })
    const { turn, runtime } = await usingServer(provider, [[[['environment']]], [[['pid']]], [[['leave']]]])
    const names = JSON.parse((await turn()).message ?? '') as string[]
    delete process.env.LANDFALL_TEST_SECRET
    expect(names).toEqual(expect.arrayContaining(['GIVEN', 'PATH']))
    expect(names).not.toContain('LANDFALL_TEST_SECRET')
    const pids = ((await turn()).message ?? '').split(' ').map(Number)
    expect(pids.map(isGone)).toEqual([false, false])
    // Who left the group, in a session of his own, cannot be found by us: that is the operator's to end.
    const left = Number((await turn()).message)
    await runtime.close()
    await expect.poll(() => pids.map(isGone), { interval: 10 }).toEqual([true, true])
    expect(isGone(left)).toBe(false)
    process.kill(left, 'SIGKILL')
  })

  it('is that of one runtime: another one has its own', async () => {
    const server = await mcpServer('stdio')
    const provider = server.provider()
    const pids: string[] = []
    for (let each = 0; each < 2; each += 1) {
      const { turn } = await usingServer(provider, [[[['pid']]]])
      pids.push((await turn()).message ?? '')
    }
    expect(new Set(pids).size).toBe(2)
  })
})

describe('a server that cannot be had', () => {
  const model = scriptedModel({})
  const refusalOf = async (opening: Promise<unknown>) => {
    const error = await opening.then(() => null).catch((reason: unknown) => reason)
    return isLandfallError(error) ? error : null
  }

  it('fails the opening of the runtime, and says what it wrote last, without secrets', async () => {
    const words = 'echo "no database; token sk-abcdefghijklmnopqrstuvwxyz123456" >&2; exit 1'
    const command = ['/bin/sh', '-c', words]
    const refused = await refusalOf(
      openRuntime({
        log: memoryLog(),
        model,
        scheduler: hurried,
        catalog: [mcpProvider({ name: 'here', command, connectMs: 2_000 })],
      }),
    )
    expect(refused).toMatchObject({ code: 'MCP_UNAVAILABLE', retryable: true, details: { server: 'here' } })
    expect(refused?.details.stderr).toContain('no database')
    expect(refused?.details.stderr).not.toContain('abcdefghijklm')
  })

  it('fails it too when there is no such program, or nobody at the address; what was bound before is let go', async () => {
    const bound = await mcpServer('stdio')
    for (const [first, options] of [
      [bound, { command: '/no/such/program' }],
      [shared.server, { url: 'http://127.0.0.1:1/mcp' }],
    ] as const) {
      const catalog = [first.provider(), mcpProvider({ name: 'away', ...options })]
      const refused = await refusalOf(openRuntime({ log: memoryLog(), model, scheduler: hurried, catalog }))
      expect(refused).toMatchObject({ code: 'MCP_UNAVAILABLE', details: { server: 'away' } })
    }
    const [, pid] = bound.happened()[0]?.split(' ') ?? []
    await expect.poll(() => isGone(Number(pid)), { interval: 10 }).toBe(true)
  })

  it('is refused by name when two have one', async () => {
    const catalog = [mcpProvider({ name: 'a', command: 'true' }), mcpProvider({ name: 'a', command: 'true' })]
    expect(await refusalOf(openRuntime({ log: memoryLog(), model, catalog }))).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it.each([
    {},
    { name: 'a' },
    { name: 'a b', command: 'x' },
    { name: 'a:b', command: 'x' },
    { name: 'a', command: 'x', url: 'http://127.0.0.1' },
    { name: 'a', url: 'file:///x' },
    { name: 'a', command: '' },
    { name: 'a', command: [1] },
    { name: 'a', command: 'x', args: 'y' },
    { name: 'a', command: 'x', trust: 'builtin' },
    { name: 'a', command: 'x', effects: { y: 'write' } },
    { name: 'a', command: 'x', connectMs: 0 },
    { name: 'a', command: 'x', timeout: 5 },
    { name: 'a', command: 'x', effects: null },
    { name: 'a', command: 'x', env: null },
    { name: 'a', command: 'x', env: { KEY: 5 } },
    { name: 'a', command: 'x', cwd: 7 },
    { name: 'a', command: 'x', confirm: 'twice' },
    { name: 'a', command: 'x', load: 'later' },
    { name: 'a', command: 'x', timeoutMs: -1 },
    { name: 'a', command: 'x', headers: {} },
    { name: 'a', command: [] },
    { name: 'a', command: ['a\0b'] },
    { name: 'a', url: 'http://127.0.0.1', args: ['x'] },
    { name: 'a', url: 'http://127.0.0.1', env: {} },
    { name: 'a', url: 'http://127.0.0.1', headers: null },
    { name: 'a', url: 'http://127.0.0.1', headers: { key: 'two\nlines' } },
    { name: 'a', url: 'http://ada:secret@127.0.0.1/' },
  ])('is refused when it is described as %j', (options) => {
    expect(() => mcpProvider(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  })
})

describe('a server over HTTP', () => {
  it('is given the headers that the host says', async () => {
    const since = shared.sinceNow()
    const { turn } = await usingServer(shared.server.provider({ headers: { authorization: 'Bearer abc' } }), [[[echo]]])
    await turn()
    expect(since.happened()).toContain('POST Bearer abc')
    expect(since.happened()).not.toContain('POST nobody')
  })

  it('hears of the end of a session', async () => {
    const since = shared.sinceNow()
    const { turn, runtime } = await usingServer(shared.server.provider(), [[[echo]]])
    await turn()
    const before = since.happened().filter((line) => line.startsWith('DELETE')).length
    await runtime.close()
    await expect.poll(() => since.happened().filter((line) => line.startsWith('DELETE')).length).toBe(before + 1)
  })
})
