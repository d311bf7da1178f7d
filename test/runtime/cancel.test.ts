import { describe, expect, it } from 'vitest'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import { checkAll, refusal } from './kit/check.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' }, put: { effect: 'idempotent' } } as const

async function acting(rig: Rig, ...calls: (readonly [string, unknown?])[]) {
  const handle = await rig.session.start('do something for me')
  ;(await rig.model.next()).calls(...calls)
  await rig.time.settle()
  return handle
}

async function callEnds(rig: Rig): Promise<string[]> {
  const lines = (await rig.steps()).join(' · ').split(' · ')
  return lines.filter((line) => /^call\.(finished|cancelled|unknown|refused|verified|late)/.test(line))
}

describe('cancel', () => {
  it('ends a turn in the model phase at once', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('write a poem')
    const request = await rig.model.next()
    const receipt = await rig.session.cancel({ reason: 'changed my mind' })
    expect(receipt).toMatchObject({ result: 'applied', task: handle.id })
    expect(request.signal.aborted).toBe(true)
    expect(await handle.outcome()).toMatchObject({ status: 'cancelled', reason: 'changed my mind', steps: 0 })
    expect(await rig.stepsAfter(1)).toEqual([
      'task.cancelling T1 {cancelled} · model.abandoned T1 {cancelled} · task.quiescing T1 · task.cancelled T1',
    ])
    request.text('too late')
    await rig.time.settle()
    expect(await rig.stepCount()).toBe(2)
    await checkAll(rig)
  })

  it('ends a turn that waits for a retry', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('write a poem')
    ;(await rig.model.next()).fails('OVERLOADED', true)
    await rig.time.settle()
    await rig.session.cancel()
    expect((await handle.outcome()).status).toBe('cancelled')
    await rig.time.advance(600_000)
    expect(rig.model.asked.length).toBe(1)
    await checkAll(rig)
  })

  it('ends a turn that waits in the queue, without a barrier', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const waiting = await rig.session.followUp('the second')
    expect(await rig.session.cancel({ task: waiting.id })).toMatchObject({ result: 'applied', task: waiting.id })
    expect(await waiting.outcome()).toMatchObject({ status: 'cancelled', steps: 0 })
    expect((await rig.steps()).at(-1)).toBe('task.cancelled T2')
    expect(await rig.session.queue()).toEqual([])
    ;(await rig.model.next()).text('first done')
    await rig.time.settle()
    expect(rig.model.asked.length).toBe(1)
    await checkAll(rig)
  })

  it('comes too late for a turn that has ended, and changes nothing', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('be quick')
    ;(await rig.model.next()).text('quick')
    await handle.outcome()
    const before = await rig.stepCount()
    expect(await rig.session.cancel({ task: handle.id })).toMatchObject({ result: 'too_late', task: handle.id })
    expect(await rig.stepCount()).toBe(before)
    expect((await refusal(rig.session.cancel())).code).toBe('TASK_NOT_ACTIVE')
    expect((await refusal(rig.session.cancel({ task: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }))).code).toBe('NOT_FOUND')
    const receipt = await rig.session.cancel({ task: handle.id, commandId: 'c' })
    expect(receipt.result).toBe('too_late')
    expect((await rig.steps()).at(-1)).toBe('command.accepted {cancel too_late}')
    expect((await rig.session.cancel({ task: handle.id, commandId: 'c' })).result).toBe('duplicate')
    await checkAll(rig)
  })

  it('is joined by a second one, whose reason does not count', async () => {
    const rig = await openRig({ tools })
    const handle = await acting(rig, ['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.cancel({ reason: 'the first reason' })
    await rig.time.advance(5_000)
    expect(await rig.session.cancel({ reason: 'the second reason', steering: 'expire' })).toMatchObject({
      result: 'joined',
      task: handle.id,
    })
    await rig.time.advance(5_000)
    expect(await handle.outcome()).toMatchObject({ status: 'cancelled', reason: 'the first reason' })
    call.returns('late')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('ends every call by what is known of it', async () => {
    const rig = await openRig({ tools, limits: { parallelCalls: 4 } })
    const handle = await acting(
      rig,
      ...([
        ['look', { id: '1' }],
        ['put', { id: '2' }],
        ['pay', { id: '3' }],
        ['pay', { id: '4' }],
        ['pay', { id: '5' }],
      ] as const),
    )
    const look = await rig.tool('look').next()
    const put = await rig.tool('put').next()
    const [three, four] = [await rig.tool('pay').next(), await rig.tool('pay').next()]
    await rig.session.cancel()
    expect([look, put, three, four].map((call) => call.aborted)).toEqual([true, true, true, true])
    look.acknowledges()
    three.returns('paid')
    four.throws(new Error('torn off'))
    await rig.time.advance(10_000)
    expect((await handle.outcome()).calls).toEqual({
      total: 5,
      failed: 0,
      succeededMutating: 1,
      unknownMutating: 1,
      cancelled: 2,
    })
    expect(await callEnds(rig)).toEqual([
      'call.cancelled C5 {before_start}',
      'call.cancelled C1 {acknowledged}',
      'call.finished C3',
      'call.unknown C4 {unacknowledged}',
      'call.unknown C2 {grace}',
    ])
    const messages = (await rig.session.messages()).filter((message) => message.role === 'tool')
    expect(messages.map((message) => message.toolCallId)).toEqual((await rig.session.calls()).map((call) => call.id))
    expect(messages.map((message) => message.synthetic === true)).toEqual([true, true, false, true, true])
    put.returns('late')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('leaves a conversation that the next turn can be built on', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    await acting(rig, ['pay', { id: '1' }], ['look'])
    await rig.session.cancel()
    await rig.time.advance(0)
    const next = await rig.session.start('what happened?')
    const request = await rig.model.next()
    expect(request.request.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ])
    expect(request.request.messages[2]?.content).toMatch(/unknown.*verify/is)
    request.text('nobody knows')
    expect((await next.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('knows a failure from before the abort, and takes an uncertain error after it as what it is', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['look'], ['pay', { id: '1' }], ['put'])
    const [look, pay, put] = [await rig.tool('look').next(), await rig.tool('pay').next(), await rig.tool('put').next()]
    await rig.session.cancel()
    look.throws(new Error('whatever'))
    pay.throws(new OutcomeUnknownError('gone'))
    put.throws(new OutcomeUnknownError('gone'))
    await rig.time.settle()
    expect((await callEnds(rig)).map((line) => line.replace(/\{(transport|unacknowledged)\}/, '{lost}'))).toEqual([
      'call.cancelled C1 {interrupted}',
      'call.unknown C2 {lost}',
      'call.unknown C3 {lost}',
    ])
    expect((await rig.session.tasks())[0]?.status).toBe('cancelled')
    expect(rig.tool('put').calls.length).toBe(1)
    await checkAll(rig)
  })

  it('gives a call the grace that the host set, from the abort', async () => {
    for (const graceMs of [0, 1, 60_000]) {
      const rig = await openRig({ tools, limits: { graceMs } })
      const handle = await acting(rig, ['look'])
      await rig.session.cancel()
      if (graceMs > 0) {
        await rig.time.advance(graceMs - 1)
        expect((await rig.session.tasks())[0]?.state).toBe('quiescing')
      }
      await rig.time.advance(1)
      expect((await handle.outcome()).status).toBe('cancelled')
      expect(await callEnds(rig)).toEqual(['call.cancelled C1 {interrupted}'])
      await checkAll(rig)
    }
  })

  it('lets a pause of the tool after the abort acknowledge it', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.cancel()
    call.context.pause({ reason: 'input' }).catch((error: unknown) => call.throws(error))
    await rig.time.settle()
    expect(await callEnds(rig)).toEqual(['call.cancelled C1 {acknowledged}'])
    await checkAll(rig)
  })
})
