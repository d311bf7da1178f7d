import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { mcpServer, type Way } from './kit/test-server.ts'
import { hurried, sharedServer, usingServer } from './kit/using-server.ts'

// Servers are processes of their own, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

/** Something that a process does is waited for, and looked for often. */
const soon = { interval: 10, timeout: 20_000 }

describe.each(['stdio', 'http'] satisfies Way[])('an MCP server over %s', (way) => {
  let shared: Awaited<ReturnType<typeof sharedServer>>
  beforeAll(async () => {
    shared = await sharedServer(way)
  }, 60_000)
  afterAll(() => shared.close())

  it('has its tools in the catalog, and they are called by their ids', async () => {
    const { turn, session, facts } = shared.using([[[['echo', { text: 'hallo' }]]]])
    expect(await turn()).toMatchObject({ status: 'completed', message: 'echo: hallo' })
    expect(await session.calls()).toMatchObject([{ name: 'mcp:here:echo', effect: 'read', outcome: 'succeeded' }])
    expect((await facts('call.requested'))[0]?.data.ref).toMatchObject({
      id: 'mcp:here:echo',
      provider: 'mcp:here',
      binding: 1,
      generation: 1,
      contract: expect.stringMatching(/^sha256:/),
    })
  })

  it('is not asked when the arguments do not fit, and answers when a tool of it fails', async () => {
    const wrong = [['echo', { words: 'no' }]] as const
    const failing = [['give', { what: 'error' }]] as const
    const throwing = [['give', { what: 'throw' }]] as const
    const { turn, session, facts } = shared.using([[wrong, failing, throwing]])
    expect((await turn()).message).toContain('the tool threw')
    expect((await facts('call.refused')).map(({ data }) => data.code)).toEqual(['INVALID_ARGUMENTS'])
    const failed = (await facts('call.finished')).map(({ data }) => [data.outcome, data.code])
    expect(failed).toEqual([
      ['failed', 'MCP_TOOL_ERROR'],
      ['failed', 'MCP_TOOL_ERROR'],
    ])
    const told = (await session.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(told[1]).toContain('there is no such city')
  })

  it('gives text, structure and notes on what is neither', async () => {
    const whats = ['structured', 'both', 'image', 'audio', 'resources', 'nothing']
    const calls = whats.map((what) => ['give', { what }] as const)
    const { turn, session } = shared.using([[calls]])
    await turn()
    const results = (await session.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content)
    const structured = { celsius: 21, place: 'Łódź' }
    expect(results.slice(0, 2).map((text) => JSON.parse(text))).toEqual([
      structured,
      { text: 'It is warm.', structured },
    ])
    expect(results.slice(2)).toEqual([
      'See:\n[image: image/png, 300000 bytes, not shown]',
      '[audio: audio/wav, 3 bytes, not shown]',
      '[resource file:///a]\n[resource file:///b]\nbee\n[resource file:///c: x/y, 3 bytes, not shown]',
      '',
    ])
  })

  it('cannot give more than the bound, by no way; what changed something stands all the same', async () => {
    const whats = ['big', 'big structured', 'big resource', 'big link', 'big error']
    const reads = whats.map((what) => ['give', { what }] as const)
    const { turn, session, facts } = shared.using([[reads, [['give_changed', { what: 'big' }]]]])
    await turn()
    const finished = (await facts('call.finished')).map(({ data }) => [data.outcome, data.code ?? ''])
    const tooLarge = ['failed', 'OUTPUT_LIMIT']
    expect(finished).toEqual([...whats.map(() => tooLarge), ['succeeded', '']])
    const told = (await session.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(told[5]).toMatch(/its effect stands.*OUTPUT_LIMIT/)
    for (const text of told) expect(text.length).toBeLessThan(1_000)
  })

  it('is lost when a message is beyond all bounds, and a read is tried again, as often as calls are', async () => {
    // Each try over stdio costs a process.
    const { turn, facts } = await usingServer(shared.server.provider(), [[[['give', { what: 'huge' }]]]], {
      limits: { callAttempts: 2 },
    })
    await turn()
    expect(await facts('call.started')).toHaveLength(2)
    expect((await facts('call.finished'))[0]?.data).toMatchObject({ outcome: 'failed', code: 'OUTCOME_UNKNOWN' })
  })

  it('tells how far it is, in few words', async () => {
    const { turn, runtime, session } = shared.using([[[['steps']]], [[['shout']]]])
    const notes: string[] = []
    runtime.events(session.scope, { ephemeral: true }).subscribe((event) => {
      if (event.type === 'call.progress') notes.push(event.note)
    })
    expect(await turn()).toMatchObject({ message: 'stepped' })
    expect(notes).toEqual(['1 of 2: step', '2 of 2: step'])
    expect(await turn()).toMatchObject({ message: 'shouted' })
    expect(notes[2]).toBe(`1: ${'m'.repeat(197)}`)
  })

  it('is told of an abort; a change whose end nobody knows is unknown and quarantined', async () => {
    const server = shared.sinceNow()
    const { session, begin, facts, verified, started } = shared.using([[[['linger']]]])
    const handle = await begin()
    await started('linger')
    await expect.poll(() => server.happened(), soon).toContain('lingering')
    await session.cancel()
    expect(await handle.outcome()).toMatchObject({ status: 'cancelled', calls: { unknownMutating: 1 } })
    await expect.poll(() => server.happened(), soon).toContain('told to stop')
    expect((await facts('call.unknown'))[0]?.data).toEqual({ reason: 'grace' })
    expect(await facts('mutation.quarantined')).toHaveLength(1)
    await verified()
  })

  it('is told of the abort of a read, which ends at once', async () => {
    const server = shared.sinceNow()
    const { session, begin, facts, verified, started } = shared.using([[[['linger_reading']]]])
    const handle = await begin()
    await started('linger_reading')
    await expect.poll(() => server.happened(), soon).toContain('lingering')
    await session.cancel()
    expect(await handle.outcome()).toMatchObject({ status: 'cancelled' })
    expect((await facts('call.cancelled'))[0]?.data).toEqual({ when: 'interrupted' })
    await expect.poll(() => server.happened(), soon).toContain('told to stop')
    await verified()
  })

  it('may still finish what it was told to stop, and that counts', async () => {
    const server = shared.sinceNow()
    const { session, begin, facts, verified, started } = shared.using([[[['finish_late']]]])
    const handle = await begin()
    await started('finish_late')
    await expect.poll(() => server.happened(), soon).toContain('finishing')
    await session.cancel()
    const outcome = await handle.outcome()
    expect(outcome.status).toBe('cancelled')
    // The SDK's server drops the answer of a cancelled request: then nobody knows, though it was done.
    expect([...(await facts('call.finished')), ...(await facts('call.unknown'))]).toHaveLength(1)
    await verified()
  })

  it('is given up at the deadline of its tools', async () => {
    const server = shared.sinceNow()
    const provider = server.provider({ timeoutMs: 200 })
    const { turn, facts } = await usingServer(provider, [[[['linger']]]], { limits: { graceMs: 100 } })
    await turn()
    expect((await facts('call.unknown'))[0]?.data).toEqual({ reason: 'deadline' })
    await expect.poll(() => server.happened(), soon).toContain('told to stop')
  })
})

describe('a server that answers nonsense', () => {
  it('has failed at a read, and done what it was asked to change', async () => {
    const server = await mcpServer('stdio')
    const { turn, session, facts } = await usingServer(server.provider(), [[[['nonsense_read']], [['nonsense']]]])
    await turn()
    expect((await facts('call.finished')).map(({ data }) => [data.outcome, data.code])).toEqual([
      ['failed', 'OUTPUT_INVALID'],
      ['succeeded', undefined],
    ])
    const told = (await session.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(told[1]).toMatch(/its effect stands.*OUTPUT_INVALID/)
  })
})

describe('a server that dies in the middle of a call', () => {
  it.each(['stdio', 'http'] satisfies Way[])('over %s leaves a change unknown and quarantined', async (way) => {
    const server = await mcpServer(way)
    const { turn, session, facts } = await usingServer(server.provider(), [[[['die']]]])
    const outcome = await turn()
    expect(outcome).toMatchObject({ status: 'completed', calls: { unknownMutating: 1 } })
    expect((await facts('call.unknown'))[0]?.data).toEqual({ reason: 'transport' })
    expect(await facts('mutation.quarantined')).toHaveLength(1)
    expect(await facts('call.started')).toHaveLength(1)
    expect(server.happened().filter((line) => line === 'dying')).toHaveLength(1)
    expect((await session.messages()).find(({ synthetic }) => synthetic)?.content).toMatch(/unknown/)
  })

  it('is started again for a read, which is tried again', async () => {
    const server = await mcpServer('stdio')
    const { turn, facts } = await usingServer(server.provider(), [[[['die_once']]]], { scheduler: hurried })
    expect(await turn()).toMatchObject({ message: 'back again' })
    expect((await facts('call.started')).map(({ data }) => data.attempt)).toEqual([1, 2])
    expect(await facts('call.interrupted')).toHaveLength(1)
  })

  it('fails a read when it dies every time', async () => {
    const server = await mcpServer('stdio')
    const limits = { callAttempts: 2 }
    const { turn, facts } = await usingServer(server.provider(), [[[['die_reading']]]], { limits, scheduler: hurried })
    await turn()
    expect((await facts('call.finished'))[0]?.data).toMatchObject({ outcome: 'failed', code: 'OUTCOME_UNKNOWN' })
    expect(server.happened().filter((line) => line === 'dying')).toHaveLength(2)
  })

  it('fails a read over HTTP when it does not come back', async () => {
    const server = await mcpServer('http')
    const { turn, facts } = await usingServer(server.provider(), [[[['die_reading']]]], { scheduler: hurried })
    await turn()
    expect((await facts('call.finished'))[0]?.data).toMatchObject({ outcome: 'failed', code: 'MCP_UNAVAILABLE' })
  })

  it('is found again when it was restarted between two calls', async () => {
    const server = await mcpServer('http')
    const echo = [[['echo', { text: 'once more' }]]] as const
    const { turn } = await usingServer(server.provider(), [echo, echo])
    expect(await turn()).toMatchObject({ message: 'echo: once more' })
    await server.kill()
    await server.again()
    expect(await turn()).toMatchObject({ message: 'echo: once more' })
  })
})
