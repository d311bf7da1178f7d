import { describe, expect, it, vi } from 'vitest'
import { loadSdk } from '../../src/capabilities/mcp/load-sdk.ts'
import { mcpProvider } from '../../src/capabilities/mcp/mcp-provider.ts'
import { offerOf } from '../../src/capabilities/mcp/mcp-tools.ts'
import { PacedWork } from '../../src/capabilities/mcp/paced-work.ts'
import { validateArguments } from '../../src/capabilities/tool-schema.ts'
import { limits } from '../../src/facts/limits.ts'
import { silentLogger } from '../../src/facts/system-ports.ts'
import { manualTime } from '../models/manual-time.ts'
import { plainServer } from './kit/plain-server.ts'
import { mcpServer } from './kit/test-server.ts'
import { usingServer } from './kit/using-server.ts'

// A server is a process of its own, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const evil = { type: 'string', pattern: '^(a+)+$' }
const victim = `${'a'.repeat(60)}!`

/** Two references where one was, so many times over: a check of it takes two to that power of steps. */
function doubling(times: number): object {
  const defs = Array.from({ length: times }, (_, at) => {
    const next = at + 1 === times ? { type: 'string' } : { $ref: `#/$defs/d${at + 1}` }
    return [`d${at}`, { allOf: [next, next, { properties: { [`p${at}`]: {} } }] }]
  })
  return { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs: Object.fromEntries(defs) }
}

const text = (words: string) => ({ content: [{ type: 'text', text: words }], structuredContent: { x: victim } })

async function calling(tools: readonly object[], args: object, logger = silentLogger) {
  const server = await plainServer({ tools, result: text('done') })
  const provider = mcpProvider({ name: 'here', url: server.url, trust: 'operator', effects: { pay: 'mutate' } })
  const calls = [[[['pay', args]], [['pay', args]]]] as never
  const { turn, facts, session, runtime } = await usingServer(provider, calls, {
    logger,
    limits: { mcpSchemaCheckMs: 50 },
  })
  return { server, turn, facts, session, runtime }
}

describe('a schema that never ends', () => {
  it.each([
    ['a pattern', { type: 'object', properties: { x: evil } }],
    ['a pattern for names', { type: 'object', patternProperties: { '^(a+)+$': { type: 'number' } } }],
    ['references that double', doubling(40)],
  ])('by %s refuses the arguments in time', async (_what, inputSchema) => {
    const { server, turn, facts } = await calling([{ name: 'pay', inputSchema }], { x: victim, [victim]: 1 })
    await turn()
    expect((await facts('call.refused')).map(({ data }) => data.code)).toEqual([
      'INVALID_ARGUMENTS',
      'INVALID_ARGUMENTS',
    ])
    expect(server.calls()).toBe(0)
  })

  it('is not asked again, whatever the next value is', async () => {
    const tool = { name: 'pay', inputSchema: { type: 'object' as const, properties: { x: evil } } }
    const of = { server: 'here', provider: 'mcp:here', binding: 1, rules: {}, limits, sdk: await loadSdk() }
    const [made] = offerOf([tool], { ...of, run: async () => null }).tools
    const issues = (value: object) => {
      const checked = made === undefined ? { ok: true } : validateArguments(made.input, value)
      return 'issues' in checked ? checked.issues : []
    }
    expect(issues({ x: 'aa' })).toEqual([])
    const tooLong = [{ path: '', message: 'the schema of the tool takes too long to be checked' }]
    expect(issues({ x: victim })).toEqual(tooLong)
    expect(issues({ x: 'aa' })).toEqual(tooLong)
  })

  it('of results leaves what was changed as it is', async () => {
    const outputSchema = { type: 'object', properties: { x: evil } }
    const { server, turn, facts } = await calling([{ name: 'pay', inputSchema: { type: 'object' }, outputSchema }], {})
    await turn()
    expect((await facts('call.finished')).map(({ data }) => data.outcome)).toEqual(['succeeded', 'succeeded'])
    expect(server.calls()).toBe(2)
  })

  it('or is too much to be read leaves out what is left of the offer, and the others work', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`p${at}`, { type: 'string', maxLength: 9 }]),
    )
    const huge = Array.from({ length: 30 }, (_, at) => ({
      name: `t${at}`,
      inputSchema: { type: 'object', properties },
    }))
    const warnings: { why?: string }[] = []
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) }
    const tools = [{ name: 'pay', inputSchema: { type: 'object' } }, ...huge]
    const server = await plainServer({ tools, result: text('done') })
    const provider = mcpProvider({ name: 'here', url: server.url, trust: 'operator' })
    const { turn } = await usingServer(provider, [[[['pay']]]], { logger, limits: { mcpSchemasMs: 20 } })
    expect(warnings.at(-1)).toMatchObject({ tool: 't29', why: expect.stringContaining('too long to be read') })
    expect(await turn()).toMatchObject({ status: 'completed' })
  })

  it('or answers later is left out: its refusal would be nobody’s', async () => {
    const warnings: object[] = []
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) }
    await calling([{ name: 'pay', inputSchema: { $async: true, type: 'object', required: ['x'] } }], {}, logger)
    expect(warnings).toMatchObject([{ tool: 'pay', why: 'a schema must answer at once' }])
  })
})

describe('a server that says again and again that its tools changed', () => {
  it('is asked for them once at once, and then at its leisure; references are stale', async () => {
    const server = await mcpServer('stdio')
    const calls = [
      [[['keep_changing', { times: 500 }]], [['echo', { text: 'old' }]]],
      [[['echo', { text: 'new' }]]],
    ] as const
    const { turn, facts, runtime } = await usingServer(server.provider(), calls)
    await turn()
    const refusals = [...(await facts('call.refused')), ...(await facts('call.finished'))].map(({ data }) => data.code)
    expect(refusals).toContain('STALE_CAPABILITY')
    expect(await turn()).toMatchObject({ message: 'echo: new' })
    // At the beginning, at the first notice, and for all that came while that was answered.
    expect(server.happened().filter((line) => line === 'listed').length).toBeLessThanOrEqual(4)
    expect(runtime.catalog.generation).toBeLessThanOrEqual(4)
  })

  it('is listened to less and less while it does not wait, and as before when it has', async () => {
    const time = manualTime()
    const began: number[] = []
    const start = time.now()
    const work = new PacedWork(
      async () => {
        began.push(time.now() - start)
      },
      { clock: time, scheduler: time },
    )
    for (let ms = 0; ms < 100_000; ms += 100) {
      work.notice()
      await time.advance(100)
    }
    expect(began).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 61_000, 91_000])
    await time.advance(60_000)
    const before = began.length
    work.notice()
    await work.done()
    expect(began).toHaveLength(before + 1)
    work.notice()
    await time.advance(999)
    expect(began).toHaveLength(before + 1)
    await time.advance(1)
    expect(began).toHaveLength(before + 2)
  })

  it('keeps nobody waiting behind the end', async () => {
    const time = manualTime()
    const began: number[] = []
    const work = new PacedWork(async () => void began.push(time.now()), { clock: time, scheduler: time })
    work.notice()
    await work.done()
    work.notice()
    const done = work.done()
    await time.advance(0)
    work.stop()
    await done
    work.notice()
    await time.advance(100_000)
    expect(began).toHaveLength(1)
    expect(time.pending()).toBe(0)
  })
})
