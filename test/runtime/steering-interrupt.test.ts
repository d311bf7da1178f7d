import { describe, expect, it } from 'vitest'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import { checkAll } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' }, put: { effect: 'idempotent' } } as const
const onward = 'context.accounted T1 · model.requested T1'
const end = 'model.completed T1 · message.added T1 {assistant} · task.completed T1'

const userTexts = (request: { request: { messages: readonly { role: string; content: string }[] } }) =>
  request.request.messages.filter((message) => message.role === 'user').map((message) => message.content)

describe('an interrupting steer', () => {
  it('cuts the request in flight, which is charged, and asks again with it', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    const first = await rig.model.next()
    first.send({ type: 'text', text: 'roses are' })
    await rig.time.settle()
    const receipt = await rig.session.steer('stop, about the sea', { mode: 'interrupt' })
    expect(receipt.result).toMatch(/queued|applied/)
    expect(first.signal.aborted).toBe(true)
    const second = await rig.model.next()
    expect(userTexts(second)).toEqual(['write a poem', 'stop, about the sea'])
    first.text('too late')
    second.text('the sea')
    await rig.time.settle()
    expect(await rig.stepsAfter(1)).toEqual([
      `steering.queued T1 {S1 interrupt} · model.abandoned T1 {interrupted} · steering.applied T1 {S1} · message.added T1 {user} · ${onward}`,
      end,
    ])
    const abandoned = (await rig.facts()).find((fact) => fact.type === 'model.abandoned')
    expect(abandoned?.data).toMatchObject({ charged: { output: 3, estimated: true } })
    await checkAll(rig)
  })

  it('cuts a back-off', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    ;(await rig.model.next()).fails('OVERLOADED', true, 600_000)
    await rig.time.settle()
    await rig.session.steer('now, about the sea', { mode: 'interrupt' })
    const request = await rig.model.next()
    expect(userTexts(request).at(-1)).toBe('now, about the sea')
    request.text('the sea')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('leaves running calls alone and withdraws those that wait', async () => {
    const rig = await openRig({ tools, limits: { parallelCalls: 1 } })
    await rig.session.start('look twice')
    ;(await rig.model.next()).calls(['look', { id: '1' }], ['look', { id: '2' }])
    const call = await rig.tool('look').next()
    await rig.session.steer('once is enough', { mode: 'interrupt' })
    expect(call.aborted).toBe(false)
    call.returns('seen')
    const request = await rig.model.next()
    expect(request.request.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ])
    expect(rig.tool('look').calls.length).toBe(1)
    expect(await rig.stepsAfter(2)).toEqual([
      'steering.queued T1 {S1 interrupt} · call.cancelled C2 {withdrawn}',
      'call.finished C1 · message.added T1 {tool C1} · message.added T1 {tool synthetic C2} · steering.applied T1 {S1} · ' +
        `message.added T1 {user} · ${onward}`,
    ])
    request.text('once then')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('withdraws what waits for an approval, and its pause', async () => {
    const rig = await openRig({ tools: { look: { effect: 'read' }, pay: { effect: 'mutate', confirm: 'each' } } })
    await rig.session.start('look and pay')
    ;(await rig.model.next()).calls(['look'], ['pay'])
    const call = await rig.tool('look').next()
    await rig.session.steer('do not pay', { mode: 'interrupt' })
    call.returns('seen')
    ;(await rig.model.next()).text('not paid')
    await rig.time.settle()
    expect((await rig.stepsAfter(1)).slice(0, 3)).toEqual([
      'model.completed T1 · message.added T1 {assistant} · call.requested C1 · call.requested C2 · ' +
        'pause.requested C2 {approval} · call.held C2 {approval} · call.started C1',
      'steering.queued T1 {S1 interrupt} · call.cancelled C2 {withdrawn} · pause.settled C2 {withdrawn}',
      'call.finished C1 · message.added T1 {tool C1} · message.added T1 {tool synthetic C2} · steering.applied T1 {S1} · ' +
        `message.added T1 {user} · ${onward}`,
    ])
    await checkAll(rig)
  })

  it('ends what the quarantine holds, and goes on at once', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay', { id: '1' }])
    await rig.tool('pay').next()
    await rig.session.supersede('pay again')
    await rig.time.advance(0)
    ;(await rig.model.next()).calls(['pay', { id: '2' }])
    await rig.time.settle()
    await rig.session.steer('leave it', { mode: 'interrupt' })
    const request = await rig.model.next()
    expect(userTexts(request).at(-1)).toBe('leave it')
    request.text('left')
    await rig.time.settle()
    expect(rig.tool('pay').calls.length).toBe(1)
    await checkAll(rig)
  })

  it('does not let a lost attempt run again', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('look and put')
    ;(await rig.model.next()).calls(['look'], ['put'])
    await rig.tool('look').next()
    await rig.tool('put').next()
    await rig.session.steer('never mind', { mode: 'interrupt' })
    await rig.crashAndReopen()
    const request = await rig.model.next()
    expect([rig.tool('look').calls.length, rig.tool('put').calls.length]).toEqual([1, 1])
    const ends = (await rig.facts()).filter((fact) => ['call.cancelled', 'call.unknown'].includes(fact.type))
    expect(ends.map((fact) => [fact.type, fact.data])).toEqual([
      ['call.cancelled', { when: 'interrupted' }],
      ['call.unknown', { reason: 'crash' }],
    ])
    expect(userTexts(request).at(-1)).toBe('never mind')
    request.text('gladly')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('does not let an attempt run again whose outcome is unknown, nor one that asks for a pause', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('look, put and look')
    ;(await rig.model.next()).calls(['look', { id: '1' }], ['put'], ['look', { id: '2' }])
    const [one, two] = [await rig.tool('look').next(), await rig.tool('look').next()]
    const put = await rig.tool('put').next()
    await rig.session.steer('never mind', { mode: 'interrupt' })
    one.throws(new OutcomeUnknownError('gone'))
    put.throws(new OutcomeUnknownError('gone'))
    two.context.pause({ reason: 'input' }).catch((error: unknown) => two.throws(error))
    const request = await rig.model.next()
    expect([rig.tool('look').calls.length, rig.tool('put').calls.length]).toEqual([2, 1])
    const ends = (await rig.facts()).filter((fact) => ['call.cancelled', 'call.unknown'].includes(fact.type))
    expect(ends.map((fact) => [fact.type, fact.data])).toEqual([
      ['call.cancelled', { when: 'interrupted' }],
      ['call.unknown', { reason: 'transport' }],
      ['call.cancelled', { when: 'withdrawn' }],
    ])
    request.text('gladly')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('goes in order with what was queued before it', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    await rig.model.next()
    await rig.session.steer('first')
    await rig.session.steer('second', { mode: 'interrupt' })
    const request = await rig.model.next()
    expect(userTexts(request)).toEqual(['write a poem', 'first', 'second'])
    request.text('done so')
    await rig.time.settle()
    await checkAll(rig)
  })
})
