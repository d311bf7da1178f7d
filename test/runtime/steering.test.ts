import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' }, put: { effect: 'idempotent' } } as const
const onward = 'context.accounted T1 · model.requested T1'
const end = 'model.completed T1 · message.added T1 {assistant} · task.completed T1'

const userTexts = (request: { request: { messages: readonly { role: string; content: string }[] } }) =>
  request.request.messages.filter((message) => message.role === 'user').map((message) => message.content)

describe('steering', () => {
  it('waits for the boundary in the tool phase, and all of it goes in together, in order', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('look around')
    ;(await rig.model.next()).calls(['look'])
    const call = await rig.tool('look').next()
    const receipts = [await rig.session.steer('to the left'), await rig.session.steer('then to the right')]
    expect(receipts.map((receipt) => [receipt.result, receipt.task])).toEqual([
      ['queued', handle.id],
      ['queued', handle.id],
    ])
    call.returns('nothing there')
    const request = await rig.model.next()
    expect(request.request.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'user',
    ])
    expect(userTexts(request)).toEqual(['look around', 'to the left', 'then to the right'])
    request.text('looked there too')
    await handle.outcome()
    expect(await rig.stepsAfter(2)).toEqual([
      'steering.queued T1 {S1 boundary}',
      'steering.queued T1 {S2 boundary}',
      `call.finished C1 · message.added T1 {tool C1} · steering.applied T1 {S1 S2} · message.added T1 {user} · message.added T1 {user} · ${onward}`,
      end,
    ])
    await checkAll(rig)
  })

  it('does not touch a request in flight, and leads to another round after its final answer', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('write a poem')
    const first = await rig.model.next()
    await rig.session.steer('about the sea')
    expect(first.signal.aborted).toBe(false)
    first.text('a poem about nothing')
    const second = await rig.model.next()
    expect(second.request.messages.map((message) => message.content)).toEqual([
      'write a poem',
      'a poem about nothing',
      'about the sea',
    ])
    second.text('a poem about the sea')
    expect(await handle.outcome()).toMatchObject({ message: 'a poem about the sea', steps: 2, pendingSteering: [] })
    expect(await rig.stepsAfter(1)).toEqual([
      'steering.queued T1 {S1 boundary}',
      `model.completed T1 · message.added T1 {assistant} · steering.applied T1 {S1} · message.added T1 {user} · ${onward}`,
      end,
    ])
    await checkAll(rig)
  })

  it('is refused once the final answer stands', async () => {
    const rig = await openRig()
    const handle = await rig.session.start('write a poem')
    ;(await rig.model.next()).text('a poem')
    await handle.outcome()
    const { code, details } = await refusal(rig.session.steer('about the sea'))
    expect([code, details.active]).toEqual(['TASK_NOT_ACTIVE', null])
    const second = await rig.session.start('another one')
    const late = await refusal(rig.session.steer('about the sea', { task: handle.id }))
    expect([late.code, late.details.active]).toEqual(['TASK_NOT_ACTIVE', second.id])
    await checkAll(rig)
  })

  it('is refused for a turn that waits, and for one that is being cancelled', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('pay')
    const waiting = await rig.session.followUp('later')
    expect((await refusal(rig.session.steer('x', { task: waiting.id }))).code).toBe('TASK_NOT_ACTIVE')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.cancel()
    const { code, details } = await refusal(rig.session.steer('wait'))
    expect([code, details.accepted]).toEqual(['TASK_CANCELLING', expect.arrayContaining(['followUp'])])
    call.acknowledges()
    ;(await rig.model.next()).text('later done')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('is in the retry of a request that failed, in the same step as the request', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    ;(await rig.model.next()).fails('OVERLOADED', true)
    await rig.time.settle()
    await rig.session.steer('about the sea')
    expect(await rig.model.waiting()).toBe(0)
    await rig.time.advance(60_000)
    const request = await rig.model.next()
    expect([request.attempt, userTexts(request)]).toEqual([2, ['write a poem', 'about the sea']])
    expect((await rig.steps()).at(-1)).toBe(`steering.applied T1 {S1} · message.added T1 {user} · ${onward}`)
    request.text('the sea')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('is not lost and not used twice over a crash', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('look around')
    ;(await rig.model.next()).calls(['look'])
    await rig.tool('look').next()
    await rig.session.steer('to the left')
    await rig.crashAndReopen()
    ;(await rig.tool('look').next()).returns('nothing')
    expect(userTexts(await rig.model.next())).toEqual(['look around', 'to the left'])
    await rig.crashAndReopen()
    const again = await rig.model.next()
    expect(userTexts(again)).toEqual(['look around', 'to the left'])
    again.text('fine')
    expect((await rig.session.task(handle.id).outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('takes what came to a request that a crash cut', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    await rig.model.next()
    await rig.session.steer('about the sea')
    await rig.crashAndReopen()
    const request = await rig.model.next()
    expect([request.attempt, userTexts(request)]).toEqual([2, ['write a poem', 'about the sea']])
    request.text('the sea')
    await rig.time.settle()
    await checkAll(rig)
  })
})
