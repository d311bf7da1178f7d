import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { retryWait } from '../runtime/kit/retry-wait.ts'
import { openRig } from '../runtime/kit/rig.ts'
import { acting, end, onward, pauses, stateOf, tokens } from './kit/pausing.ts'

const tools = {
  look: { effect: 'read' },
  put: { effect: 'idempotent' },
  pay: { effect: 'mutate' },
  wire: { effect: 'mutate', confirm: 'each' },
} as const

describe("an operator's pause", () => {
  it('while the model is asked: the answer waits unstarted, and goes on after it', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do it')
    const request = await rig.model.next()
    expect((await rig.session.pause()).result).toBe('applied')
    expect(await stateOf(rig)).toBe('running')
    request.calls(['look'], ['wire'])
    expect(await stateOf(rig)).toBe('paused')
    expect(rig.tool('look').calls.length).toBe(0)
    const [token = ''] = await tokens(rig)
    expect(await rig.session.pauses()).toEqual([{ token, reason: 'operator', task: expect.any(String), seq: 7 }])
    await rig.session.resume(token, { decision: 'resume' })
    expect(await rig.stepsAfter(1)).toEqual([
      'pause.requested T1 {operator}',
      'model.completed T1 · message.added T1 {assistant} · call.requested C1 · call.requested C2 · task.paused T1',
      'pause.settled T1 {resume} · task.resumed T1 · pause.requested C2 {approval} · call.held C2 {approval} · call.started C1',
    ])
    ;(await rig.tool('look').next()).returns()
    await rig.session.cancel()
    expect(await stateOf(rig)).toBe('cancelled')
    await checkAll(rig)
  })

  it('is withdrawn by a final answer', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do it')
    const request = await rig.model.next()
    await rig.session.pause()
    request.text('done')
    expect(await stateOf(rig)).toBe('completed')
    expect((await rig.steps()).at(-1)).toBe(
      'model.completed T1 · message.added T1 {assistant} · pause.settled T1 {withdrawn} · task.completed T1',
    )
    await checkAll(rig)
  })

  it('waits for the calls that run, and starts none of the others', async () => {
    const rig = await openRig({ tools, limits: { parallelCalls: 1 } })
    await acting(rig, ['look', { id: '1' }], ['look', { id: '2' }])
    await rig.session.pause()
    expect(await stateOf(rig)).toBe('running')
    ;(await rig.tool('look').next()).returns('first')
    expect(await stateOf(rig)).toBe('paused')
    expect(rig.tool('look').calls.length).toBe(1)
    const [token = ''] = await tokens(rig)
    await rig.crashAndReopen()
    expect(rig.tool('look').calls.length).toBe(1)
    await rig.session.resume(token, { decision: 'resume' })
    ;(await rig.tool('look').next()).returns('second')
    ;(await rig.model.next()).text('both')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('after the last call of a batch keeps the next request back', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['look'])
    await rig.session.pause()
    ;(await rig.tool('look').next()).returns('seen')
    expect(await stateOf(rig)).toBe('paused')
    expect(await rig.model.waiting()).toBe(0)
    const [token = ''] = await tokens(rig)
    await rig.session.resume(token, { decision: 'resume' })
    expect(await rig.stepsAfter(2)).toEqual([
      'pause.requested T1 {operator}',
      'call.finished C1 · message.added T1 {tool C1} · task.paused T1',
      `pause.settled T1 {resume} · task.resumed T1 · ${onward}`,
    ])
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('joins the one that is open', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['look'])
    const first = await rig.session.pause()
    const second = await rig.session.pause()
    expect([first.result, second.result, second.task]).toEqual(['applied', 'joined', first.task])
    expect((await tokens(rig)).length).toBe(1)
    await rig.session.cancel()
    ;(await rig.tool('look').next()).acknowledges()
    await checkAll(rig)
  })

  it('over approvals: a decision is recorded, and its call starts after it', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire', { id: '1' }], ['wire', { id: '2' }])
    await rig.session.pause()
    expect((await rig.session.pauses()).map((pause) => pause.reason)).toEqual(['operator', 'approval', 'approval'])
    const [first = '', second = '', own = ''] = await tokens(rig)
    await rig.session.confirm(first, 'allow')
    await rig.session.confirm(second, 'deny')
    expect(await stateOf(rig)).toBe('paused')
    expect(rig.tool('wire').calls.length).toBe(0)
    await rig.crashAndReopen()
    expect(rig.tool('wire').calls.length).toBe(0)
    await rig.session.resume(own, { decision: 'resume' })
    const call = await rig.tool('wire').next()
    expect(call.args).toEqual({ id: '1' })
    call.returns('wired')
    ;(await rig.model.next()).text('one of two')
    expect(await stateOf(rig)).toBe('completed')
    expect(await rig.stepsAfter(2)).toEqual([
      'pause.requested T1 {operator}',
      'pause.settled C1 {approve}',
      'pause.settled C2 {reject} · call.refused C2 {PAUSE_REJECTED}',
      'session.owned · run.resumed T1 {crash} · pause.settled T1 {resume} · task.resumed T1 · call.started C1',
      `call.finished C1 · message.added T1 {tool C1} · message.added T1 {tool synthetic C2} · ${onward}`,
      end,
    ])
    await checkAll(rig)
  })

  it('that ends before the approvals leaves them open', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    await rig.session.pause()
    const [approval = '', own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'resume' })
    expect(await stateOf(rig)).toBe('paused')
    expect((await rig.steps()).at(-1)).toBe('pause.settled T1 {resume}')
    await rig.session.confirm(approval, 'allow')
    ;(await rig.tool('wire').next()).returns()
    ;(await rig.model.next()).text('wired')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it.each([
    ['reject', 'PAUSE_REJECTED'],
    ['timeout', 'PAUSE_TIMEOUT'],
  ] as const)('that ends with %s ends the task as failed, with what it had not started', async (decision, code) => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    await rig.session.pause()
    const [, own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision })
    expect(await stateOf(rig)).toBe('failed')
    expect((await rig.steps()).at(-1)).toBe(
      `pause.settled T1 {${decision}} · call.cancelled C1 {before_start} · pause.settled C1 {withdrawn} · ` +
        `message.added T1 {tool synthetic C1} · task.failed T1 {${code}}`,
    )
    expect(rig.tool('wire').calls.length).toBe(0)
    await checkAll(rig)
  })

  it('that is rejected while calls run fails the task through the barrier', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    await rig.session.pause()
    const [own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'reject' })
    expect(await stateOf(rig)).toBe('quiescing')
    ;(await rig.tool('pay').next()).acknowledges()
    expect(await stateOf(rig)).toBe('failed')
    expect((await rig.facts()).at(-1)).toMatchObject({ data: { code: 'PAUSE_REJECTED' } })
    await checkAll(rig)
  })

  it('that is rejected while the model is asked cuts the request', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do it')
    const request = await rig.model.next()
    await rig.session.pause()
    const [own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'reject' })
    expect(await stateOf(rig)).toBe('failed')
    expect(request.signal.aborted).toBe(true)
    expect((await rig.steps()).at(-1)).toBe(
      'pause.settled T1 {reject} · model.abandoned T1 {cancelled} · task.failed T1 {PAUSE_REJECTED}',
    )
    await checkAll(rig)
  })

  it('keeps a retry back, and leaves its time as it was', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do it')
    ;(await rig.model.next()).fails('RATE_LIMITED', true, 60_000)
    const wait = await retryWait(rig)
    await rig.session.pause()
    expect(await stateOf(rig)).toBe('paused')
    const [own = ''] = await tokens(rig)
    await rig.time.advance(20_000)
    await rig.session.resume(own, { decision: 'resume' })
    await rig.time.advance(wait - 20_001)
    expect(await rig.model.waiting()).toBe(0)
    await rig.time.advance(1)
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('over a retry that fell due meanwhile asks again at once', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do it')
    ;(await rig.model.next()).fails('RATE_LIMITED', true, 10_000)
    await rig.time.settle()
    await rig.session.pause()
    const [own = ''] = await tokens(rig)
    await rig.time.advance(20_000)
    expect(await rig.model.waiting()).toBe(0)
    await rig.crashAndReopen()
    await rig.session.resume(own, { decision: 'resume' })
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('joins what a tool awaits: both must be settled', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    await rig.session.pause()
    await pauses(rig, await rig.tool('pay').next(), { reason: 'authorization', subject: 'Sign in' })
    expect(await stateOf(rig)).toBe('paused')
    const [own = '', signIn = ''] = await tokens(rig)
    await rig.session.resume(signIn, { decision: 'resume', input: 'signed in' })
    expect(rig.tool('pay').calls.length).toBe(1)
    await rig.session.resume(own, { decision: 'resume' })
    const again = await rig.tool('pay').next()
    expect(again.context.resumed).toEqual({ decision: 'resume', input: 'signed in' })
    again.returns()
    ;(await rig.model.next()).text('paid')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('is refused for a task that has not started, has ended, or is being cancelled', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    const queued = await rig.session.followUp('later')
    expect(await refusal(rig.session.pause({ task: queued.id }))).toMatchObject({ code: 'TASK_NOT_ACTIVE' })
    await rig.session.cancel()
    const first = (await rig.session.tasks())[0]?.id ?? ''
    expect(await refusal(rig.session.pause({ task: first }))).toMatchObject({ code: 'TASK_CANCELLING' })
    await rig.session.cancel({ task: queued.id })
    ;(await rig.tool('pay').next()).acknowledges()
    await rig.time.settle()
    expect(await refusal(rig.session.pause({ task: first }))).toMatchObject({ code: 'TASK_NOT_ACTIVE' })
    expect(await refusal(rig.session.pause())).toMatchObject({ code: 'TASK_NOT_ACTIVE' })
    await checkAll(rig)
  })
})
