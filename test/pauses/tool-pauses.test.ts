import { describe, expect, it } from 'vitest'
import { checkAll } from '../runtime/kit/check.ts'
import { openRig } from '../runtime/kit/rig.ts'
import { acting, end, onward, pauses, stateOf, tokens } from './kit/pausing.ts'

const tools = {
  look: { effect: 'read' },
  pay: { effect: 'mutate' },
  wire: { effect: 'mutate', confirm: 'each' },
} as const
const dayMs = 86_400_000

describe('a tool that asks in the middle', () => {
  it.each(['approval', 'authorization', 'input', 'external'] as const)(
    'is told the answer in its next attempt (%s)',
    async (reason) => {
      const rig = await openRig({ tools })
      await acting(rig, ['pay', { id: '1' }])
      await pauses(rig, await rig.tool('pay').next(), { reason, subject: 'Which account?' })
      expect(await stateOf(rig)).toBe('paused')
      const [token = ''] = await tokens(rig)
      expect(await rig.session.pauses()).toMatchObject([
        { reason, subject: { name: 'pay', effect: 'mutate', arguments: { id: '1' }, text: 'Which account?' } },
      ])
      const decision = reason === 'approval' ? 'approve' : 'resume'
      await rig.session.resume(token, { decision, input: { account: 'NL-7' } })
      const again = await rig.tool('pay').next()
      expect([again.context.attempt, again.context.resumed]).toEqual([2, { decision, input: { account: 'NL-7' } }])
      again.returns('paid')
      ;(await rig.model.next()).text('it is paid')
      expect(await stateOf(rig)).toBe('completed')
      expect(await rig.stepsAfter(2)).toEqual([
        `pause.requested C1 {${reason}} · call.held C1 {${reason}} · task.paused T1`,
        `pause.settled C1 {${decision}} · task.resumed T1 · call.started C1 {attempt 2}`,
        `call.finished C1 · message.added T1 {tool C1} · ${onward}`,
        end,
      ])
      expect(JSON.stringify(await rig.facts())).not.toContain('NL-7')
      await checkAll(rig)
    },
  )

  it('is told so after restarts too, before the answer and after it', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['look', { id: '1' }])
    await pauses(rig, await rig.tool('look').next(), { reason: 'input', subject: 'Which one?' })
    await rig.crashAndReopen()
    expect(await rig.session.pauses()).toMatchObject([{ subject: { text: 'Which one?' } }])
    const [token = ''] = await tokens(rig)
    await rig.session.resume(token, { decision: 'resume', input: 'the second' })
    expect((await rig.tool('look').next()).context.resumed).toEqual({ decision: 'resume', input: 'the second' })
    await rig.crashAndReopen()
    const third = await rig.tool('look').next()
    expect([third.args, third.context.attempt, third.context.resumed]).toEqual([
      { id: '1' },
      3,
      { decision: 'resume', input: 'the second' },
    ])
    third.returns('found')
    ;(await rig.model.next()).text('found it')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('may ask again, and is told the newest answer', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    await pauses(rig, await rig.tool('pay').next(), { reason: 'input', subject: 'Account?' })
    const [first = ''] = await tokens(rig)
    await rig.session.resume(first, { decision: 'resume', input: 1 })
    await pauses(rig, await rig.tool('pay').next(), { reason: 'input', subject: 'Sure?' })
    const [second = ''] = await tokens(rig)
    expect(second).not.toBe(first)
    await rig.session.resume(second, { decision: 'resume', input: 2 })
    const third = await rig.tool('pay').next()
    expect([third.context.attempt, third.context.resumed]).toEqual([3, { decision: 'resume', input: 2 }])
    third.returns()
    ;(await rig.model.next()).text('paid')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('does not take the confirmation of its call for an answer', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    const [confirmation = ''] = await tokens(rig)
    await rig.session.confirm(confirmation, 'allow')
    const first = await rig.tool('wire').next()
    expect([first.context.attempt, 'resumed' in first.context]).toEqual([1, false])
    await pauses(rig, first, { reason: 'input' })
    const [question = ''] = await tokens(rig)
    await rig.session.resume(question, { decision: 'resume', input: 'to Ann' })
    const second = await rig.tool('wire').next()
    expect(second.context.resumed).toEqual({ decision: 'resume', input: 'to Ann' })
    second.returns()
    ;(await rig.model.next()).text('wired')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('holds its own call alone', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'], ['look'])
    await pauses(rig, await rig.tool('pay').next(), { reason: 'external' })
    expect(await stateOf(rig)).toBe('running')
    ;(await rig.tool('look').next()).returns('seen')
    expect(await stateOf(rig)).toBe('paused')
    expect((await rig.steps()).at(-1)).toBe('call.finished C2 · task.paused T1')
    const [token = ''] = await tokens(rig)
    await rig.session.resume(token, { decision: 'reject' })
    const request = await rig.model.next()
    expect(request.request.messages.at(-2)?.content).toContain('PAUSE_REJECTED')
    request.text('well then')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('after its abort has only stopped', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.cancel()
    await pauses(rig, call, { reason: 'input' })
    expect(await stateOf(rig)).toBe('cancelled')
    expect((await rig.steps()).at(-1)).toContain('call.cancelled C1 {acknowledged}')
    await checkAll(rig)
  })

  it('may swallow the signal, or not wait for it, at its own risk: what it returns then counts', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    const call = await rig.tool('pay').next()
    void call.context.pause({ reason: 'input' })
    await rig.time.settle()
    call.returns('paid without an answer')
    ;(await rig.model.next()).text('paid')
    expect(await stateOf(rig)).toBe('completed')
    expect(await tokens(rig)).toEqual([])
    await checkAll(rig)
  })

  it.each([
    ['a reason that only others have', { reason: 'operator' }],
    ['no reason', {}],
    ['nothing', undefined],
    ['a subject that is no text', { reason: 'input', subject: { a: 1 } }],
    ['a deadline that is no time', { reason: 'input', deadline: 'tomorrow' }],
    ['a deadline beyond ten years', { reason: 'input', deadline: '2037-01-01T00:00:00.000Z' }],
  ])('fails when it asks with %s', async (_what, request) => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    await pauses(rig, await rig.tool('pay').next(), request as never)
    ;(await rig.model.next()).text('it failed')
    expect(await stateOf(rig)).toBe('completed')
    expect((await rig.steps()).at(-2)).toContain('call.finished C1 {failed INVALID_INPUT}')
    await checkAll(rig)
  })

  it('fails beyond the bound of open pauses', async () => {
    const rig = await openRig({ tools, limits: { openPausesPerSession: 1 } })
    await acting(rig, ['pay', { id: '1' }], ['pay', { id: '2' }])
    const [first, second] = [await rig.tool('pay').next(), await rig.tool('pay').next()]
    await pauses(rig, first, { reason: 'input' })
    await pauses(rig, second, { reason: 'input' })
    expect((await rig.steps()).at(-1)).toBe('call.finished C2 {failed LIMIT_EXCEEDED} · task.paused T1')
    await rig.session.cancel()
    expect(await stateOf(rig)).toBe('cancelled')
    await checkAll(rig)
  })

  it('has its words redacted and bounded in the fact', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    const subject = `use password=hunter2hunter2 ${'x'.repeat(400)}`
    await pauses(rig, await rig.tool('pay').next(), { reason: 'input', subject })
    const text = (await rig.session.pauses())[0]?.subject?.text ?? ''
    expect(text.length).toBeLessThanOrEqual(200)
    expect(text).not.toContain('hunter2')
    await rig.session.cancel()
    await checkAll(rig)
  })
})

describe('a deadline of a pause', () => {
  it.each([1, 20, 60, 365, 3_600])('%i days away ends it then and not before, over restarts', async (days) => {
    const rig = await openRig({ tools, limits: { turnMs: 1_000 } })
    await acting(rig, ['pay'])
    const deadline = new Date(rig.time.now() + days * dayMs).toISOString()
    await pauses(rig, await rig.tool('pay').next(), { reason: 'input', deadline })
    expect(await rig.session.pauses()).toMatchObject([{ deadline }])
    rig.time.jump((days * dayMs) / 2)
    await rig.time.advance(10_000)
    const before = await rig.stepCount()
    await rig.crashAndReopen()
    rig.time.jump((days * dayMs) / 2 - 30_000)
    await rig.time.advance(19_999)
    expect(await rig.stepCount()).toBe(before)
    await rig.time.advance(1)
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toContain('PAUSE_TIMEOUT')
    request.text('too late')
    expect(await stateOf(rig)).toBe('completed')
    expect(await rig.stepsAfter(before)).toEqual([
      `session.owned · run.resumed T1 {crash} · pause.settled C1 {timeout} · call.refused C1 {PAUSE_TIMEOUT} · ` +
        `task.resumed T1 · message.added T1 {tool synthetic C1} · ${onward}`,
      end,
    ])
    await checkAll(rig)
  })

  it('that passed while nobody ran ends it at the opening', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    const deadline = new Date(rig.time.now() + 40 * dayMs).toISOString()
    await pauses(rig, await rig.tool('pay').next(), { reason: 'input', deadline })
    rig.crash()
    rig.time.jump(50 * dayMs)
    await rig.open()
    ;(await rig.model.next()).text('too late')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('of several calls, of the turn and of a call, may all have passed at once', async () => {
    const rig = await openRig({
      tools: { ...tools, slow: { effect: 'mutate', timeoutMs: 5_000 } },
      limits: { turnMs: 10_000 },
    })
    await acting(rig, ['pay', { id: '1' }], ['pay', { id: '2' }], ['slow'])
    const deadline = new Date(rig.time.now() + 20_000).toISOString()
    for (const _ of [1, 2]) await pauses(rig, await rig.tool('pay').next(), { reason: 'input', deadline })
    expect(await stateOf(rig)).toBe('running')
    rig.time.jump(60_000)
    await rig.time.advance(60_000)
    expect(await stateOf(rig)).toBe('failed')
    expect((await rig.facts()).at(-1)).toMatchObject({ type: 'task.failed', data: { code: 'BUDGET_EXCEEDED' } })
    await checkAll(rig)
  })
})
