import { describe, expect, it, vi } from 'vitest'
import type { Log } from '../../src/facts/log-port.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { Session } from '../../src/runtime/session.ts'
import { factsOf, quickTool, rigWith, verifyAll } from '../capabilities/kit.ts'
import { refusal } from '../runtime/kit/check.ts'
import { openRig, Rig, scope } from '../runtime/kit/rig.ts'
import { askedNext, checkSameNext, restoredElsewhere, summariser, verified } from './kit/elsewhere.ts'

// Sessions that fill a window take a while on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const output = (size: number) => 'An output that goes on and on. '.repeat(size)
const catalog = [quickTool('look'), quickTool('dump', { run: () => output(120) })]
const tight = { windowTokens: 16_000, reserveTokens: 1_000, thresholdTokens: 9_000, tailMessages: 4 }

describe('a restored session', () => {
  it('goes on as if it had never moved: the next request is the same', async () => {
    const origin = await rigWith(catalog, { system: 'Be exact.', budget: { tokens: 100_000 } })
    await origin.session.start('look at it')
    ;(await origin.model.next()).calls(['look', { id: '1' }], ['look'])
    ;(await origin.model.next()).text('seen')
    await origin.time.settle()
    await origin.session.memory.put('plan', { next: ['tea'] })
    const checkpoint = await origin.session.checkpoint()
    const { rig, session } = await restoredElsewhere(checkpoint, catalog, {
      system: 'Another.',
      budget: { tokens: 100_000 },
    })
    expect(session.scope).toEqual(scope)
    expect(await session.memory.get('plan')).toEqual({ next: ['tea'] })
    const { identity, digest: _, history, next: _next, ...same } = checkpoint
    const again = await session.checkpoint()
    expect(again).toMatchObject({
      ...same,
      identity: { turns: identity.turns },
      history: { messages: history.messages },
    })
    expect(again.control.seenCalls.length).toBe(2)
    expect((await rig.steps())[0]).toMatch(
      /^session\.opened( · message\.added [^·]*){5} · session\.restored · memory\.put$/,
    )
    const request = await checkSameNext(origin, rig)
    expect(request).toMatchObject({ system: 'Be exact.', turn: 1, inputAt: 5 })
    const [restored] = await factsOf(rig, 'session.restored')
    expect(restored?.data).toMatchObject({ turns: 1, revision: checkpoint.history.revision, quarantined: [] })
    expect((await session.state()).budget).toEqual((await origin.session.state()).budget)
    expect((await session.messages()).map(({ role, content }) => [role, content])).toEqual(
      (await origin.session.messages()).map(({ role, content }) => [role, content]),
    )
    await rig.crashAndReopen({ catalog })
    expect(await askedNext(rig, 'again')).toEqual(await askedNext(origin, 'again'))
    await verifyAll(rig)
  })

  it('keeps its observations, and reads them where it goes on', async () => {
    const origin = await rigWith(catalog, { context: tight })
    await origin.session.start('dump it')
    for (let call = 0; call < 3; call += 1) (await origin.model.next()).calls(['dump', { id: String(call) }])
    ;(await origin.model.next()).text('much')
    await origin.time.settle()
    const checkpoint = await origin.session.checkpoint()
    const observed = checkpoint.context.view.filter((entry) => 'message' in entry && entry.observed === true)
    expect(observed.length).toBeGreaterThan(0)
    const { rig } = await restoredElsewhere(checkpoint, catalog, { context: tight })
    const request = await checkSameNext(origin, rig)
    const named = /\[Observation (\w+):/.exec(request.messages.map(({ content }) => content).join('\n'))?.[1] ?? ''
    await rig.session.start('read it')
    ;(await rig.model.next()).calls(['observation_read', { observation: named, offset: 3, length: 6 }])
    const last = (await rig.model.next()).request.messages.at(-1)
    expect(JSON.parse(last?.content ?? '')).toMatchObject({ offset: 3, size: output(120).length, text: 'output' })
    await verifyAll(rig)
  })

  it('leaves out the same as before, episodes and ranks and notes included', async () => {
    const origin = await rigWith(catalog, { context: tight })
    const turn = async (rig: Rig, input: string) => {
      await rig.session.start(input)
      ;(await rig.model.next()).calls(
        ['episode_start', { kind: 'exploration', goal: 'find out' }],
        ['look', { id: input }],
      )
      ;(await rig.model.next()).calls(['episode_end', { conclusion: output(4) }])
      ;(await rig.model.next()).text(output(12))
      await rig.time.settle()
    }
    for (let at = 0; at < 12; at += 1) await turn(origin, `turn ${at} ${output(10)}`)
    const checkpoint = await origin.session.checkpoint()
    expect(checkpoint.context.view[0]).toHaveProperty('note')
    expect(checkpoint.context.episodes.length).toBe(12)
    expect((await factsOf(origin, 'context.compacted')).map(({ data }) => data.algorithm)).toContain('evict/v1')
    const { rig } = await restoredElsewhere(checkpoint, catalog, { context: tight })
    await checkSameNext(origin, rig)
    for (let at = 0; at < 4; at += 1) {
      const input = `later ${at} ${output(10)}`
      for (const each of [origin, rig]) {
        await each.session.start(input)
        ;(await each.model.next()).text(output(12))
        await each.time.settle()
      }
    }
    const compactions = async (each: Rig) =>
      (await factsOf(each, 'context.compacted')).map(({ data: { tailStart: _, ...data } }) => data)
    const there = await compactions(rig)
    expect(there.length).toBeGreaterThan(0)
    expect((await compactions(origin)).slice(-there.length)).toEqual(there)
    await checkSameNext(origin, rig)
  })

  it('goes by the standing summary, and numbers the next one behind it', async () => {
    const [there, here] = [summariser(), summariser()]
    const origin = await rigWith(catalog, { context: tight, summaryModel: there.model })
    there.use(origin)
    const fill = async (rig: Rig, summaries: typeof there, until: number) => {
      for (let at = 0; summaries.model.asked.length < until; at += 1) {
        await rig.session.start(`turn ${at} ${output(20)}`)
        if ((await summaries.model.waiting()) > 0) (await summaries.model.next()).text(`Summary of ${at}.`)
        ;(await rig.model.next()).text(output(20))
        await rig.time.settle()
      }
    }
    await fill(origin, there, 1)
    const checkpoint = await origin.session.checkpoint()
    expect(checkpoint.context.view).toContainEqual({
      summary: { version: 1, text: expect.stringContaining('Summary of') },
    })
    const { rig } = await restoredElsewhere(checkpoint, catalog, { context: tight, summaryModel: here.model })
    here.use(rig)
    await checkSameNext(origin, rig)
    await fill(origin, there, 2)
    await fill(rig, here, 1)
    expect(here.model.asked[0]?.request).toEqual(there.model.asked[1]?.request)
    const versions = async (each: Rig) => (await factsOf(each, 'context.checkpoint')).map(({ data }) => data.version)
    expect(await versions(rig)).toEqual([2])
    expect(await versions(origin)).toEqual([1, 2])
    await verifyAll(rig)
  })

  it('keeps its quarantine until somebody acknowledges it', async () => {
    const origin = await openRig({ tools: { pay: { effect: 'mutate' } }, limits: { graceMs: 0 } })
    const handle = await origin.session.start('pay')
    ;(await origin.model.next()).calls(['pay', { id: '1' }])
    const call = await origin.tool('pay').next()
    await origin.session.cancel()
    await origin.time.advance(1)
    expect(await handle.outcome()).toMatchObject({ status: 'cancelled', calls: { unknownMutating: 1 } })
    const checkpoint = await origin.session.checkpoint()
    expect(checkpoint).toMatchObject({
      next: { terminal: { status: 'cancelled' } },
      control: { quarantine: [call.id], seenCalls: [call.id] },
    })
    const rig = new Rig({ seed: 99, tools: { pay: { effect: 'mutate' } } })
    await rig.open()
    const session = await rig.runtime.restore(checkpoint)
    expect((await session.state()).quarantined).toEqual([call.id])
    await session.start('pay again')
    ;(await rig.model.next()).calls(['pay', { id: '2' }])
    await rig.time.settle()
    expect(rig.tool('pay').calls.length).toBe(0)
    expect(await refusal(session.acknowledge(['01ARZ3NDEKTSV4RRFFQ69G5FAV']))).toMatchObject({
      code: 'NOT_QUARANTINED',
    })
    await session.acknowledge([call.id])
    ;(await rig.tool('pay').next()).returns('paid')
    ;(await rig.model.next()).text('done')
    await rig.time.settle()
    await verifyAll(rig)
  })

  it('counts its turns, its usage and its warnings on', async () => {
    const origin = await openRig({ budget: { tokens: 40_000 } })
    const first = await origin.session.start('spend')
    ;(await origin.model.next()).says({ text: 'spent', usage: { input: 25_000, output: 0, cached: 7 } })
    await first.outcome()
    const checkpoint = await origin.session.checkpoint()
    expect(checkpoint).toMatchObject({
      identity: { phase: 'finished', turns: 1, task: first.id },
      accounting: { used: 25_000, usage: { input: 25_000, output: 0, total: 25_000, cached: 7 }, reserved: 0 },
      control: { warnings: [50] },
    })
    const { rig, session } = await restoredElsewhere(checkpoint, [], { budget: { tokens: 1_000_000 } })
    expect((await session.state()).budget).toEqual((await origin.session.state()).budget)
    await checkSameNext(origin, rig)
    expect(await factsOf(rig, 'budget.warning')).toEqual([])
    const again = await session.checkpoint()
    expect(again.identity).toMatchObject({ turns: 2, phase: 'finished' })
    const { rig: narrow } = await restoredElsewhere(checkpoint, [], { budget: { tokens: 25_000 } })
    const broke = await narrow.session.start('more')
    expect(await broke.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
  })

  it('may be one of the past, of a session that has gone on since', async () => {
    const origin = await openRig()
    await askedNext(origin, 'first')
    const at = (await origin.facts()).at(-1)?.seq ?? 0
    const then = await origin.session.checkpoint()
    await askedNext(origin, 'second')
    const past = await origin.session.checkpoint({ at })
    expect(past).toEqual(then)
    const { rig } = await restoredElsewhere(past)
    const { messages, turn } = await askedNext(rig, 'another second')
    expect([messages.length, turn]).toEqual([3, 1])
    expect(messages.map(({ content }) => content)).toEqual(['first', 'said', 'another second'])
    await verifyAll(rig)
  })

  it('may have a view of thousands of messages, written in as many steps as it takes', async () => {
    const open = (log: Log) =>
      openRuntime({ log, model: scriptedModel({ name: 'short', everyTurn: [{ text: 'ok' }] }) })
    const [from, to] = [memoryLog(), memoryLog()]
    const [origin, other] = [await open(from), await open(to)]
    for (let at = 0; at < 700; at += 1) await (await origin.session(scope).start(`m${at}`)).outcome()
    const checkpoint = await origin.session(scope).checkpoint()
    expect(checkpoint.context.view.length).toBe(1_400)
    const session = await other.restore(checkpoint)
    expect((await session.log()).at(-1)).toMatchObject({ type: 'session.restored', step: 3 })
    const next = async (at: Session) => {
      await (await at.start('and now?')).outcome()
      const seq = (await at.log()).findLast(({ type }) => type === 'model.requested')?.seq ?? 0
      return at.request({ seq })
    }
    expect(await next(session)).toEqual(await next(origin.session(scope)))
    await verified(to)
    await Promise.all([origin.close(), other.close()])
  })
})
