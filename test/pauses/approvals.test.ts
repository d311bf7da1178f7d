import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { openRig, type Rig } from '../runtime/kit/rig.ts'

const tools = {
  look: { effect: 'read' },
  pay: { effect: 'mutate', confirm: 'each' },
  send: { effect: 'mutate', confirm: 'once' },
} as const

const onward = 'context.accounted T1 · model.requested T1'
const end = 'model.completed T1 · message.added T1 {assistant} · task.completed T1'

async function pausedFor(rig: Rig, ...calls: (readonly [name: string, args?: unknown])[]): Promise<readonly string[]> {
  await rig.session.start('do it')
  ;(await rig.model.next()).calls(...calls)
  await rig.time.settle()
  return (await rig.session.pauses()).map((pause) => pause.token).reverse()
}

async function state(rig: Rig): Promise<unknown> {
  await rig.time.settle()
  const task = (await rig.session.tasks())[0]
  return task?.status ?? task?.state
}

describe('an approval', () => {
  it('is asked for before the call starts, and runs it once it is given', async () => {
    const rig = await openRig({ tools })
    const [token = ''] = await pausedFor(rig, ['pay', { id: 'invoice-7' }])
    expect(await state(rig)).toBe('paused')
    expect(await rig.session.pauses()).toEqual([
      {
        token,
        reason: 'approval',
        task: expect.any(String),
        call: expect.any(String),
        subject: { name: 'pay', effect: 'mutate', arguments: { id: 'invoice-7' } },
        seq: 10,
      },
    ])
    expect(rig.tool('pay').calls.length).toBe(0)
    expect((await rig.session.confirm(token, 'allow')).result).toBe('applied')
    ;(await rig.tool('pay').next()).returns('paid')
    ;(await rig.model.next()).text('it is paid')
    expect(await state(rig)).toBe('completed')
    expect(await rig.stepsAfter(1)).toEqual([
      'model.completed T1 · message.added T1 {assistant} · call.requested C1 · pause.requested C1 {approval} · ' +
        'call.held C1 {approval} · task.paused T1',
      'pause.settled C1 {approve} · task.resumed T1 · call.started C1',
      `call.finished C1 · message.added T1 {tool C1} · ${onward}`,
      end,
    ])
    expect(await rig.session.pauses()).toEqual([])
    await checkAll(rig)
  })

  it('outlives a restart, bound to the call and the arguments that were shown, and runs exactly that call once', async () => {
    const rig = await openRig({ tools })
    const [token = ''] = await pausedFor(rig, ['pay', { id: 'invoice-7' }])
    const shown = await rig.session.pauses()
    const before = await rig.stepCount()
    await rig.crashAndReopen()
    await rig.crashAndReopen()
    expect(await rig.stepCount()).toBe(before)
    expect(await rig.session.pauses()).toEqual(shown)
    await rig.session.resume(token, { decision: 'approve' })
    const call = await rig.tool('pay').next()
    expect([call.id, call.args, call.context.attempt]).toEqual([shown[0]?.call, { id: 'invoice-7' }, 1])
    expect(await refusal(rig.session.resume(token, { decision: 'approve' }))).toMatchObject({ code: 'ALREADY_SETTLED' })
    expect(await refusal(rig.session.confirm(token, 'deny'))).toMatchObject({ code: 'ALREADY_SETTLED' })
    call.returns('paid')
    ;(await rig.model.next()).text('it is paid')
    expect(await state(rig)).toBe('completed')
    expect(await rig.stepsAfter(before)).toEqual([
      'session.owned · run.resumed T1 {crash} · pause.settled C1 {approve} · task.resumed T1 · call.started C1',
      `call.finished C1 · message.added T1 {tool C1} · ${onward}`,
      end,
    ])
    await rig.crashAndReopen()
    expect(await refusal(rig.session.resume(token, { decision: 'reject' }))).toMatchObject({ code: 'ALREADY_SETTLED' })
    expect(rig.tool('pay').calls.length).toBe(1)
    await checkAll(rig)
  })

  it('is not repeated when the process died after it was given: the outcome of a change is unknown then', async () => {
    const rig = await openRig({ tools })
    const [token = ''] = await pausedFor(rig, ['pay'])
    await rig.session.confirm(token, 'allow')
    await rig.tool('pay').next()
    await rig.crashAndReopen()
    ;(await rig.model.next()).text('nobody knows')
    expect(await state(rig)).toBe('completed')
    expect(rig.tool('pay').calls.length).toBe(1)
    expect((await rig.session.state()).quarantined.length).toBe(1)
    await checkAll(rig)
  })

  it.each(['reject', 'timeout'] as const)(
    'that is refused (%s) ends the call, and the planner goes on',
    async (decision) => {
      const code = decision === 'reject' ? 'PAUSE_REJECTED' : 'PAUSE_TIMEOUT'
      const rig = await openRig({ tools })
      const [token = ''] = await pausedFor(rig, ['pay'])
      await rig.session.resume(token, { decision })
      const request = await rig.model.next()
      expect(request.lastMessage).toMatchObject({ role: 'tool' })
      request.text('then not')
      expect(await state(rig)).toBe('completed')
      expect(await rig.stepsAfter(2)).toEqual([
        `pause.settled C1 {${decision}} · call.refused C1 {${code}} · task.resumed T1 · ` +
          `message.added T1 {tool synthetic C1} · ${onward}`,
        end,
      ])
      expect(rig.tool('pay').calls.length).toBe(0)
      await checkAll(rig)
    },
  )

  it('is given or refused call by call; the task rests until the last one is decided', async () => {
    const rig = await openRig({ tools })
    const [first = '', second = '', third = ''] = await pausedFor(
      rig,
      ['pay', { id: '1' }],
      ['pay', { id: '2' }],
      ['pay', { id: '3' }],
    )
    await rig.session.confirm(second, 'deny')
    expect(await state(rig)).toBe('paused')
    expect((await rig.steps()).at(-1)).toBe('pause.settled C2 {reject} · call.refused C2 {PAUSE_REJECTED}')
    await rig.session.confirm(third, 'allow')
    expect(await state(rig)).toBe('running')
    ;(await rig.tool('pay').next()).returns('paid')
    expect(await state(rig)).toBe('paused')
    expect((await rig.steps()).at(-1)).toBe('call.finished C3 · task.paused T1')
    await rig.session.confirm(first, 'allow')
    ;(await rig.tool('pay').next()).returns('paid')
    const request = await rig.model.next()
    expect(request.request.messages.slice(-3).map((message) => message.toolCallId)).toEqual(
      request.request.messages.at(-4)?.toolCalls?.map((call) => call.id),
    )
    request.text('two of three')
    expect(await state(rig)).toBe('completed')
    expect(rig.tool('pay').calls.map((call) => call.args)).toEqual([{ id: '3' }, { id: '1' }])
    await checkAll(rig)
  })

  it('leaves what needs none running', async () => {
    const rig = await openRig({ tools })
    const [token = ''] = await pausedFor(rig, ['pay'], ['look'])
    expect(await state(rig)).toBe('running')
    await rig.session.confirm(token, 'allow')
    expect((await rig.steps()).at(-1)).toBe('pause.settled C1 {approve} · call.started C1')
    ;(await rig.tool('look').next()).returns('seen')
    ;(await rig.tool('pay').next()).returns('paid')
    ;(await rig.model.next()).text('done')
    expect(await state(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('that is to be given once serves for the capability and the task, and not for the next turn', async () => {
    const rig = await openRig({ tools })
    const [token = ''] = await pausedFor(rig, ['send', { id: '1' }])
    await rig.session.confirm(token, 'allow')
    ;(await rig.tool('send').next()).returns()
    ;(await rig.model.next()).calls(['send', { id: '2' }])
    ;(await rig.tool('send').next()).returns()
    ;(await rig.model.next()).text('sent twice')
    await rig.time.settle()
    await rig.session.start('again')
    ;(await rig.model.next()).calls(['send', { id: '3' }])
    await rig.time.settle()
    expect((await rig.session.pauses()).length).toBe(1)
    expect(rig.tool('send').calls.length).toBe(2)
    await rig.session.cancel()
    await rig.time.settle()
    await checkAll(rig)
  })

  it('is refused in another scope, under an unknown token, and when it was settled', async () => {
    const rig = await openRig({ tools })
    const [token = ''] = await pausedFor(rig, ['pay'])
    const before = await rig.stepCount()
    for (const other of [
      { tenant: 't', user: 'somebody', session: 's' },
      { tenant: 't', user: 'u', session: 'another' },
      { tenant: 'other', user: 'u', session: 's' },
    ]) {
      const session = rig.runtime.session(other)
      expect(await refusal(session.resume(token, { decision: 'approve' }))).toMatchObject({ code: 'SCOPE_MISMATCH' })
      expect(await session.pauses()).toEqual([])
    }
    for (const unknown of ['made-up', token.slice(1), `${token}x`])
      expect(['PAUSE_NOT_FOUND', 'SCOPE_MISMATCH']).toContain(
        (await refusal(rig.session.confirm(unknown, 'allow'))).code,
      )
    expect(await refusal(rig.session.confirm('made-up', 'allow'))).toMatchObject({ code: 'PAUSE_NOT_FOUND' })
    expect(await rig.stepCount()).toBe(before)
    expect(await state(rig)).toBe('paused')
    await rig.session.cancel()
    await rig.time.settle()
    expect(await refusal(rig.session.confirm(token, 'allow'))).toMatchObject({ code: 'ALREADY_SETTLED' })
    await checkAll(rig)
  })

  it('shows arguments redacted', async () => {
    const rig = await openRig({ tools })
    await pausedFor(rig, ['pay', { id: 'sk-ant-REDACTED', note: 'the invoice' }])
    const subject = (await rig.session.pauses())[0]?.subject
    expect(subject?.arguments).toMatchObject({ note: 'the invoice' })
    expect(JSON.stringify(subject)).not.toContain('AbCdEf')
    await rig.session.cancel()
    await rig.time.settle()
  })

  it('does not keep a new turn from being refused, nor a revoked tool from being refused afterwards', async () => {
    const rig = await openRig({ tools })
    const [token = ''] = await pausedFor(rig, ['pay'])
    expect(await refusal(rig.session.start('another'))).toMatchObject({ code: 'SESSION_BUSY' })
    await rig.runtime.catalog.revoke('pay')
    await rig.session.confirm(token, 'allow')
    ;(await rig.model.next()).text('not any more')
    expect(await state(rig)).toBe('completed')
    expect((await rig.steps()).at(-2)).toContain('task.resumed T1 · call.refused C1 {CAPABILITY_REVOKED}')
    await checkAll(rig)
  })

  it('has a bound: what is asked for beyond it is refused', async () => {
    const rig = await openRig({ tools, limits: { openPausesPerSession: 2 } })
    const tokens = await pausedFor(rig, ['pay', { id: '1' }], ['pay', { id: '2' }], ['pay', { id: '3' }])
    expect(tokens.length).toBe(2)
    expect((await rig.steps()).at(-1)).toContain('call.refused C3 {LIMIT_EXCEEDED}')
    expect(await refusal(rig.session.pause())).toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(await state(rig)).toBe('paused')
    await rig.session.cancel()
    await rig.time.settle()
    await checkAll(rig)
  })
})
