import { describe, expect, it } from 'vitest'
import { factsOf, quickTool, rigWith, verifyAll } from '../capabilities/kit.ts'
import { HeldModel, type HeldRequest } from '../runtime/kit/held-model.ts'
import type { Rig, RigOptions } from '../runtime/kit/rig.ts'

const context = { windowTokens: 16_000, reserveTokens: 1_000, thresholdTokens: 10_000, tailMessages: 4 }
const chunk = 'All work and no play. '.repeat(40)

/** A session whose next turn request is over the threshold: the summary model is asked, and waits for the test. */
async function crowded(
  options: RigOptions = {},
): Promise<{ rig: Rig; summary: HeldModel; asked: HeldRequest; task: string }> {
  let settle = async () => {}
  const summary = new HeldModel(() => settle(), 'summariser')
  const rig = await rigWith([quickTool('look')], { context, ...options, summaryModel: summary })
  settle = () => rig.time.settle()
  const task = await fill(rig, summary)
  return { rig, summary, asked: await summary.next(), task }
}

async function fill(rig: Rig, summary: HeldModel, from = 0): Promise<string> {
  for (let turn = from; ; turn += 1) {
    const handle = await rig.session.start(`turn ${turn}: ${chunk}`)
    if ((await summary.waiting()) > 0) return handle.id
    ;(await rig.model.next()).text(`answer ${turn}: ${chunk}`)
    await rig.time.settle()
  }
}

describe('a summary', () => {
  it('takes the place of what is older than the tail', async () => {
    const { rig, asked } = await crowded()
    expect(asked.request).toMatchObject({ purpose: 'summary', tools: [], step: 0 })
    expect(asked.request.messages[0]?.content).toContain('turn 0')
    expect(asked.request.messages.at(-1)?.content).toContain('Summarise')
    asked.text('They talk of work and play.')
    const turn = await rig.model.next()
    expect(turn.request.messages[0]).toEqual({
      role: 'user',
      content: 'Summary 1 of the earlier conversation:\nThey talk of work and play.',
    })
    expect(turn.request.messages.length).toBe(5)
    const [checkpoint] = await factsOf(rig, 'context.checkpoint')
    const [compacted] = await factsOf(rig, 'context.compacted')
    expect(checkpoint?.data.version).toBe(1)
    expect(compacted?.data).toMatchObject({
      algorithm: 'summarise/v1',
      messagesAfter: 5,
      tailStart: checkpoint?.data.tailStart,
    })
    const requested = await factsOf(rig, 'model.requested')
    expect(requested.filter(({ data }) => data.purpose === 'summary').map(({ data }) => data.model)).toEqual([
      'summariser',
    ])
    await verifyAll(rig)
  })

  it('is charged, and the next one goes by way of the standing one', async () => {
    const { rig, summary, asked } = await crowded()
    asked.says({ text: 'First memory.', usage: { input: 700, output: 30 } })
    ;(await rig.model.next()).text('answered')
    await rig.time.settle()
    expect((await rig.session.state()).budget.usage.input).toBeGreaterThanOrEqual(700)
    await fill(rig, summary, 100)
    const second = await summary.next()
    expect(second.request.messages[0]?.content).toContain('First memory.')
    expect(second.request.messages.some(({ content }) => content.includes('turn 0'))).toBe(false)
    second.text('Second memory.')
    expect((await rig.model.next()).request.messages[0]?.content).toBe(
      'Summary 2 of the earlier conversation:\nSecond memory.',
    )
    await verifyAll(rig)
  })

  it('survives a crash', async () => {
    const { rig, asked, summary } = await crowded()
    asked.text('They talk of work and play.')
    const before = await rig.model.next()
    await rig.crashAndReopen({ catalog: [quickTool('look')], summaryModel: summary })
    const after = await rig.model.next()
    expect(after.request.messages).toEqual(before.request.messages)
    await verifyAll(rig)
  })

  it('that was lost in a crash is asked for again, and counted', async () => {
    const { rig, summary } = await crowded()
    await rig.crashAndReopen({ catalog: [quickTool('look')], summaryModel: summary })
    ;(await summary.next()).text('After all.')
    expect((await rig.model.next()).request.messages[0]?.content).toContain('After all.')
    const requested = await factsOf(rig, 'model.requested')
    expect(requested.filter(({ data }) => data.purpose === 'summary').map(({ data }) => data.attempt)).toEqual([1, 2])
    await verifyAll(rig)
  })

  it('shows nothing of itself to subscribers', async () => {
    const { rig, asked } = await crowded()
    const seen: unknown[] = []
    rig.runtime.events(rig.session.scope, { ephemeral: true }).subscribe((event) => {
      if (!('cursor' in event)) seen.push(event)
    })
    asked.text('They talk of work and play.')
    await rig.model.next()
    expect(seen).toEqual([])
  })
})

describe('what is no summary', () => {
  const answers: Readonly<Record<string, (asked: HeldRequest, rig: Rig) => void | Promise<void>>> = {
    empty: (asked) => asked.text('  '),
    cut: (asked) => {
      asked.send({ type: 'text', text: 'They' }, { type: 'finish', reason: 'length', usage: { input: 1, output: 1 } })
      asked.end()
    },
    'with calls': (asked) => asked.calls(['look']),
    failed: (asked) => asked.fails('OVERLOADED', true),
    'that never comes': (_asked, rig) => rig.time.advance(60_000),
    'no shorter': (asked) => asked.text(chunk.repeat(20)),
  }
  for (const [name, answer] of Object.entries(answers))
    it(`(${name}) leaves the view as it is, once a round, and messages are left out instead`, async () => {
      const { rig, asked, summary } = await crowded()
      await answer(asked, rig)
      const turn = await rig.model.next()
      expect(turn.request.purpose).toBe('turn')
      expect(await summary.waiting()).toBe(0)
      expect(await factsOf(rig, 'context.checkpoint')).toEqual([])
      expect((await factsOf(rig, 'context.compacted')).map(({ data }) => data.algorithm)).toEqual(['evict/v1'])
      turn.text('done')
      await rig.time.settle()
      await verifyAll(rig)
    })

  it('ends the turn where nothing may be left out and the window is full', async () => {
    const full = { ...context, windowTokens: 11_500, evict: false }
    const { rig, asked, task } = await crowded({ context: full })
    asked.text('')
    const outcome = await rig.session.task(task).outcome()
    expect(outcome).toMatchObject({ status: 'failed', code: 'SUMMARY_FAILED' })
    await verifyAll(rig)
  })

  it('of a cancelled turn is discarded', async () => {
    const { rig, asked } = await crowded()
    await rig.session.cancel()
    asked.text('Too late.')
    await rig.time.settle()
    expect(await factsOf(rig, 'context.checkpoint')).toEqual([])
    expect((await factsOf(rig, 'model.abandoned')).map(({ data }) => data.reason)).toEqual(['cancelled'])
    await verifyAll(rig)
  })

  it('that the budget does not pay for is accounted, and not asked for', async () => {
    let settle = async () => {}
    const summary = new HeldModel(() => settle(), 'summariser')
    const rig = await rigWith([], { context, summaryModel: summary, budget: { tokens: 15_100 } })
    settle = () => rig.time.settle()
    for (let turn = 0; turn < 3; turn += 1) {
      const handle = await rig.session.start(`turn: ${chunk}`)
      ;(await rig.model.next()).says({ text: `answer: ${chunk}`, usage: { input: 4_800, output: 100 } })
      expect((await handle.outcome()).status).toBe('completed')
    }
    const last = await rig.session.start(`turn: ${chunk}`)
    expect(await last.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    expect(await summary.waiting()).toBe(0)
    const refused = (await factsOf(rig, 'context.accounted')).filter(({ data }) => !data.admitted)
    expect(refused.map(({ data }) => data.purpose)).toEqual(['summary', 'turn'])
    await verifyAll(rig)
  })
})

it('steering waits for the turn request, also when a summary comes first', async () => {
  const { rig, asked } = await crowded()
  await rig.session.steer('and be quick')
  asked.text('They talk of work and play.')
  const turn = await rig.model.next()
  expect(turn.lastMessage?.content).toBe('and be quick')
  const steps = await rig.steps()
  expect(steps.at(-1)).toMatch(/context.checkpoint.*context.compacted.*steering.applied.*model.requested/)
  await verifyAll(rig)
})
