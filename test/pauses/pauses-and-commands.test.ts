import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { openRig } from '../runtime/kit/rig.ts'
import { acting, onward, pauses, stateOf, tokens } from './kit/pausing.ts'

const tools = {
  look: { effect: 'read' },
  pay: { effect: 'mutate' },
  wire: { effect: 'mutate', confirm: 'each' },
} as const

describe('a steer to a paused task', () => {
  it('waits for the boundary when it comes as usual', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    expect((await rig.session.steer('in euros')).result).toBe('queued')
    expect(await stateOf(rig)).toBe('paused')
    await rig.crashAndReopen()
    const [token = ''] = await tokens(rig)
    await rig.session.confirm(token, 'allow')
    ;(await rig.tool('wire').next()).returns('wired')
    const request = await rig.model.next()
    expect(request.lastMessage).toMatchObject({ role: 'user', content: 'in euros' })
    request.text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('that interrupts withdraws the approvals and asks the model at once', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire', { id: '1' }], ['wire', { id: '2' }])
    const open = await tokens(rig)
    await rig.session.steer('stop that', { mode: 'interrupt' })
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('stop that')
    expect((await rig.steps()).at(-1)).toBe(
      'steering.queued T1 {S1 interrupt} · call.cancelled C1 {withdrawn} · pause.settled C1 {withdrawn} · ' +
        'call.cancelled C2 {withdrawn} · pause.settled C2 {withdrawn} · task.resumed T1 · ' +
        'message.added T1 {tool synthetic C1} · message.added T1 {tool synthetic C2} · steering.applied T1 {S1} · ' +
        `message.added T1 {user} · ${onward}`,
    )
    for (const token of open)
      expect(await refusal(rig.session.confirm(token, 'allow'))).toMatchObject({ code: 'ALREADY_SETTLED' })
    request.text('stopped')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('that interrupts leaves a call that runs, as the worked trace says', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['look'], ['wire'])
    await rig.session.steer('never mind', { mode: 'interrupt' })
    expect(await stateOf(rig)).toBe('running')
    ;(await rig.tool('look').next()).returns('seen')
    const request = await rig.model.next()
    request.text('never mind then')
    expect(await stateOf(rig)).toBe('completed')
    const [before = '', interrupted, settled] = await rig.stepsAfter(1)
    expect(before.slice(before.indexOf('call.requested'))).toBe(
      'call.requested C1 · call.requested C2 · pause.requested C2 {approval} · call.held C2 {approval} · call.started C1',
    )
    expect([interrupted, settled]).toEqual([
      'steering.queued T1 {S1 interrupt} · call.cancelled C2 {withdrawn} · pause.settled C2 {withdrawn}',
      'call.finished C1 · message.added T1 {tool C1} · message.added T1 {tool synthetic C2} · steering.applied T1 {S1} · ' +
        `message.added T1 {user} · ${onward}`,
    ])
    await checkAll(rig)
  })

  it("that interrupts does not end the operator's own pause, which then lets it in", async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    await rig.session.pause()
    const [, own = ''] = await tokens(rig)
    await rig.session.steer('stop that', { mode: 'interrupt' })
    expect(await stateOf(rig)).toBe('paused')
    expect(await rig.model.waiting()).toBe(0)
    expect((await rig.session.pauses()).map((pause) => pause.token)).toEqual([own])
    await rig.crashAndReopen()
    await rig.session.resume(own, { decision: 'resume' })
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('stop that')
    request.text('stopped')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('that interrupts withdraws a pause that a tool asks for afterwards', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay'])
    await rig.session.steer('stop that', { mode: 'interrupt' })
    await pauses(rig, await rig.tool('pay').next(), { reason: 'input' })
    const request = await rig.model.next()
    expect(await rig.stepsAfter(3)).toEqual([
      'pause.requested C1 {input} · call.held C1 {input} · call.cancelled C1 {withdrawn} · pause.settled C1 {withdrawn} · ' +
        `message.added T1 {tool synthetic C1} · steering.applied T1 {S1} · message.added T1 {user} · ${onward}`,
    ])
    request.text('stopped')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('that interrupts cuts a retry that the pause kept back', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do it')
    ;(await rig.model.next()).fails('RATE_LIMITED', true, 60_000)
    await rig.time.settle()
    await rig.session.pause()
    const [own = ''] = await tokens(rig)
    await rig.session.steer('at once', { mode: 'interrupt' })
    expect(await rig.model.waiting()).toBe(0)
    await rig.session.resume(own, { decision: 'resume' })
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('at once')
    request.text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })
})

describe('an end of a paused task', () => {
  it.each([
    ['approvals', ['wire']],
    ['an own pause and approvals', ['wire', 'pause']],
  ] as const)('by cancel withdraws %s', async (_what, [name, own]) => {
    const rig = await openRig({ tools })
    await acting(rig, [name])
    if (own !== undefined) await rig.session.pause()
    await rig.session.cancel()
    expect(await stateOf(rig)).toBe('cancelled')
    const last = (await rig.steps()).at(-1) ?? ''
    expect(last.split('pause.settled').length - 1).toBe(own === undefined ? 1 : 2)
    expect(await rig.session.pauses()).toEqual([])
    expect(rig.tool('wire').calls.length).toBe(0)
    await checkAll(rig)
  })

  it('by supersede withdraws them, and the replacement starts', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    const [token = ''] = await tokens(rig)
    const second = await rig.session.supersede('do something else')
    ;(await rig.model.next()).text('did it')
    expect((await rig.session.task(second.id).outcome()).status).toBe('completed')
    expect(await stateOf(rig)).toBe('superseded')
    expect(await refusal(rig.session.confirm(token, 'allow'))).toMatchObject({ code: 'ALREADY_SETTLED' })
    await checkAll(rig)
  })

  it('by a close that cancels; without that the close is refused', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    expect(await refusal(rig.session.close())).toMatchObject({ code: 'SESSION_BUSY' })
    await rig.session.close({ cancel: true })
    expect(await stateOf(rig)).toBe('cancelled')
    expect(await refusal(rig.session.confirm('any', 'allow'))).toMatchObject({ code: 'SESSION_CLOSED' })
    await checkAll(rig)
  })

  it('lets follow-ups wait until then', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    expect((await rig.session.followUp('later')).receipt?.result).toBe('queued')
    expect(await stateOf(rig)).toBe('paused')
    const [token = ''] = await tokens(rig)
    await rig.session.confirm(token, 'deny')
    ;(await rig.model.next()).text('not done')
    ;(await rig.model.next()).text('the later one')
    await rig.time.settle()
    expect((await rig.session.tasks()).map((task) => task.status)).toEqual(['completed', 'completed'])
    await checkAll(rig)
  })
})

describe('the same command id', () => {
  it('settles a pause once', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['wire'])
    const [token = ''] = await tokens(rig)
    const first = await rig.session.confirm(token, 'allow', { commandId: 'c-1' })
    await rig.tool('wire').next()
    const again = await rig.session.confirm(token, 'allow', { commandId: 'c-1' })
    expect([first.result, again]).toEqual(['applied', { ...first, result: 'duplicate' }])
    expect(await refusal(rig.session.confirm(token, 'deny', { commandId: 'c-1' }))).toMatchObject({
      code: 'COMMAND_CONFLICT',
    })
    await rig.session.cancel()
    rig.tool('wire').calls[0]?.acknowledges()
    expect(await stateOf(rig)).toBe('cancelled')
    await checkAll(rig)
  })
})
