import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from './kit/check.ts'
import { openRig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' }, put: { effect: 'idempotent' } } as const
const onward = 'context.accounted T2 · model.requested T2'

describe('supersede over a call that ignores its abort', () => {
  it('quarantines it, starts the replacement, holds what changes, and goes on after the acknowledgement', async () => {
    const rig = await openRig({ tools })
    const first = await rig.session.start('pay the old bill')
    ;(await rig.model.next()).calls(['pay', { id: 'old' }])
    const deaf = await rig.tool('pay').next()
    const second = await rig.session.supersede('pay the new bill instead')
    expect(second.receipt).toMatchObject({ result: 'queued', task: second.id })
    expect(deaf.aborted).toBe(true)
    await rig.time.advance(9_999)
    expect(await rig.stepCount()).toBe(3)
    await rig.time.advance(1)
    ;(await rig.model.next()).calls(['look'], ['pay', { id: 'new' }])
    const look = await rig.tool('look').next()
    deaf.returns('paid after all')
    await rig.time.settle()
    look.returns('seen')
    await rig.time.settle()
    expect(rig.tool('pay').calls.length).toBe(1)
    expect(await rig.session.acknowledge([deaf.id])).toMatchObject({ result: 'applied' })
    ;(await rig.tool('pay').next()).returns('paid the new one')
    const request = await rig.model.next()
    expect(await rig.stepsAfter(2)).toEqual([
      'task.created T2 {supersede} · task.cancelling T1 {superseded, replacement T2} · call.aborting C1 {cancel} · task.quiescing T1 {C1}',
      'call.unknown C1 {grace} · mutation.quarantined {C1} · message.added T1 {tool synthetic C1} · task.superseded T1 · ' +
        `task.started T2 · message.added T2 {system} · message.added T2 {user} · ${onward}`,
      'model.completed T2 · message.added T2 {assistant} · call.requested C2 · call.requested C3 · call.started C2 · ' +
        'call.held C3 {quarantine}',
      'call.late C1',
      'call.finished C2',
      'mutation.acknowledged {C1} · call.started C3',
      `call.finished C3 · message.added T2 {tool C2} · message.added T2 {tool C3} · ${onward}`,
    ])
    request.text('the new bill is paid')
    const outcome = await first.outcome()
    expect(outcome).toMatchObject({
      status: 'superseded',
      calls: { total: 1, unknownMutating: 1, succeededMutating: 0 },
    })
    expect((await second.outcome()).status).toBe('completed')
    const facts = await rig.facts()
    const created = facts.find((fact) => fact.type === 'task.created' && fact.task === second.id)
    expect(created?.data).toMatchObject({ origin: 'supersede', replaces: first.id })
    expect(facts.find((fact) => fact.type === 'task.superseded')?.data).toMatchObject({ replacement: second.id })
    await checkAll(rig)
  })

  it('shows the successor the words and the end of its predecessor, and none of its tool traffic', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    await rig.session.start('pay the old bill')
    ;(await rig.model.next()).says({ text: 'I think of paying', calls: [{ name: 'pay', arguments: { id: 'old' } }] })
    await rig.tool('pay').next()
    await rig.session.supersede('pay the new bill instead')
    await rig.time.advance(0)
    const request = await rig.model.next()
    const texts = request.request.messages.map((message) => message.content).join('\n')
    expect(request.request.messages.map((message) => message.role)).toEqual(['user', 'system', 'user'])
    expect(texts).not.toContain('I think of paying')
    expect(request.request.messages.some((message) => message.toolCalls !== undefined)).toBe(false)
    const note = request.request.messages[1]?.content ?? ''
    expect(note).toContain('superseded')
    expect(note).toContain('pay')
    expect(note).toMatch(/unknown/i)
    request.text('fine')
    await rig.time.settle()
    const third = await rig.session.start('and what happened before?')
    const whole = await rig.model.next()
    expect(whole.request.messages.map((message) => message.content).join('\n')).toContain('I think of paying')
    whole.text('now I see it all')
    expect((await third.outcome()).status).toBe('completed')
    await checkAll(rig)
  })
})

describe('supersede', () => {
  it('ends the older replacement that has not started, and says so', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    const follow = await rig.session.followUp('much later')
    const second = await rig.session.supersede('the second')
    const third = await rig.session.supersede('the third')
    expect(second.receipt.superseded).toBeUndefined()
    expect(third.receipt).toMatchObject({ result: 'queued', superseded: second.id })
    expect(await second.outcome()).toMatchObject({ status: 'superseded', steps: 0, calls: { total: 0 } })
    expect((await rig.session.queue()).map((task) => task.id)).toEqual([third.id, follow.id])
    call.acknowledges()
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('the third')
    expect(request.request.messages.some((message) => message.content === 'the second')).toBe(false)
    request.text('third done')
    const last = await rig.model.next()
    expect(last.lastMessage?.content).toBe('much later')
    last.text('all done')
    expect((await follow.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('starts at once when nothing runs, and before the follow-ups of a blocked queue', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const blocked = await rig.session.followUp('needs the first', { requires: 'success' })
    await rig.session.cancel()
    await rig.time.settle()
    const now = await rig.session.supersede('do this now')
    expect(now.receipt.result).toBe('applied')
    const skipped = await rig.model.next()
    expect(skipped.signal.aborted).toBe(true)
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('do this now')
    request.text('done now')
    await now.outcome()
    expect((await rig.session.queue()).map((task) => [task.id, task.state])).toEqual([[blocked.id, 'blocked']])
    await checkAll(rig)
  })

  it('keeps the first status when the turn is being cancelled, and still starts the replacement', async () => {
    const rig = await openRig({ tools })
    const first = await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.cancel({ reason: 'enough' })
    const second = await rig.session.supersede('do this instead')
    const joined = await rig.session.cancel()
    expect(joined).toMatchObject({ result: 'joined', replacement: second.id })
    call.acknowledges()
    expect(await first.outcome()).toMatchObject({ status: 'cancelled', reason: 'enough' })
    ;(await rig.model.next()).text('did it')
    expect((await second.outcome()).status).toBe('completed')
    await checkAll(rig)
  })

  it('is joined by a cancel, whose receipt names the replacement that still starts', async () => {
    const rig = await openRig({ tools })
    const first = await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    const second = await rig.session.supersede('do this instead')
    expect(await rig.session.cancel({ task: first.id, commandId: 'c' })).toMatchObject({
      result: 'joined',
      replacement: second.id,
    })
    call.returns('paid')
    expect(await first.outcome()).toMatchObject({ status: 'superseded', calls: { succeededMutating: 1 } })
    ;(await rig.model.next()).text('did it')
    expect((await second.outcome()).status).toBe('completed')
    expect(await rig.session.cancel({ task: first.id, commandId: 'c' })).toMatchObject({
      result: 'duplicate',
      replacement: second.id,
    })
    await checkAll(rig)
  })

  it('is refused for a task that is not the active one', async () => {
    const rig = await openRig()
    const first = await rig.session.start('the first')
    const waiting = await rig.session.followUp('later')
    const { code, details } = await refusal(rig.session.supersede('other', { task: waiting.id }))
    expect([code, details.active]).toEqual(['TASK_NOT_ACTIVE', first.id])
    const before = await rig.stepCount()
    expect((await refusal(rig.session.supersede('other', { task: 'nobody' }))).code).toMatch(
      /NOT_FOUND|TASK_NOT_ACTIVE/,
    )
    expect(await rig.stepCount()).toBe(before)
    await checkAll(rig)
  })

  it('starts at once in the model phase, with the answer of the old request dropped', async () => {
    const rig = await openRig()
    const first = await rig.session.start('the first')
    const old = await rig.model.next()
    const second = await rig.session.supersede('the second')
    expect(old.signal.aborted).toBe(true)
    expect(second.receipt.result).toBe('applied')
    old.text('too late')
    const request = await rig.model.next()
    request.text('in time')
    expect(await second.outcome()).toMatchObject({ status: 'completed', message: 'in time' })
    expect((await first.outcome()).status).toBe('superseded')
    expect((await rig.stepsAfter(1))[0]).toBe(
      'task.created T2 {supersede} · task.cancelling T1 {superseded, replacement T2} · model.abandoned T1 {cancelled} · ' +
        `task.quiescing T1 · task.superseded T1 · task.started T2 · message.added T2 {system} · message.added T2 {user} · ${onward}`,
    )
    await checkAll(rig)
  })
})

describe('quarantine', () => {
  it('outlives successors and restarts, holds idempotent calls too, and lets reads run', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay', { id: 'one' }])
    const lost = await rig.tool('pay').next()
    await rig.session.cancel()
    await rig.time.advance(0)
    await rig.crashAndReopen()
    await rig.session.start('look only')
    ;(await rig.model.next()).calls(['look'])
    ;(await rig.tool('look').next()).returns('seen')
    ;(await rig.model.next()).text('looked')
    await rig.time.settle()
    await rig.session.start('put something')
    ;(await rig.model.next()).calls(['put', { id: 'two' }])
    await rig.time.settle()
    expect(rig.tool('put').calls).toEqual([])
    expect((await rig.session.tasks()).at(-1)?.state).toBe('running')
    await rig.crashAndReopen()
    expect((await rig.session.state()).quarantined).toEqual([lost.id])
    expect(rig.tool('put').calls).toEqual([])
    await rig.session.acknowledge('all', { commandId: 'ack' })
    ;(await rig.tool('put').next()).returns('stored')
    ;(await rig.model.next()).text('stored it')
    await rig.time.settle()
    const acknowledged = (await rig.facts()).find((fact) => fact.type === 'mutation.acknowledged')
    expect(acknowledged?.by).toEqual({ kind: 'operator', id: 'u' })
    expect((await rig.session.tasks()).map((task) => task.status)).toEqual(['cancelled', 'completed', 'completed'])
    await checkAll(rig)
  })

  it('refuses an acknowledgement of what is not quarantined', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    await rig.session.start('pay twice')
    expect((await refusal(rig.session.acknowledge('all'))).code).toBe('NOT_QUARANTINED')
    ;(await rig.model.next()).calls(['pay', { id: 'one' }], ['pay', { id: 'two' }])
    const one = await rig.tool('pay').next()
    const two = await rig.tool('pay').next()
    await rig.session.cancel()
    await rig.time.advance(0)
    expect((await refusal(rig.session.acknowledge(['01ARZ3NDEKTSV4RRFFQ69G5FAV']))).code).toBe('NOT_QUARANTINED')
    expect((await refusal(rig.session.acknowledge([]))).code).toMatch(/NOT_QUARANTINED|INVALID_INPUT/)
    await rig.session.acknowledge([two.id])
    expect((await rig.session.state()).quarantined).toEqual([one.id])
    await rig.session.acknowledge('all')
    expect((await rig.session.state()).quarantined).toEqual([])
    expect((await refusal(rig.session.acknowledge('all'))).code).toBe('NOT_QUARANTINED')
    await checkAll(rig)
  })

  it('starts held calls only when the last one is acknowledged, in call order', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    await rig.session.start('pay twice')
    ;(await rig.model.next()).calls(['pay', { id: 'one' }], ['pay', { id: 'two' }])
    const one = await rig.tool('pay').next()
    const two = await rig.tool('pay').next()
    await rig.session.supersede('again')
    await rig.time.advance(0)
    ;(await rig.model.next()).calls(['put', { id: '3' }], ['pay', { id: '4' }])
    await rig.time.settle()
    await rig.session.acknowledge([one.id])
    expect([rig.tool('pay').calls.length, rig.tool('put').calls.length]).toEqual([2, 0])
    await rig.session.acknowledge([two.id])
    expect((await rig.steps()).at(-1)).toBe('mutation.acknowledged {C2} · call.started C3 · call.started C4')
    ;(await rig.tool('put').next()).returns('stored')
    ;(await rig.tool('pay').next()).returns('paid')
    ;(await rig.model.next()).text('both done')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('stops the clock of a turn while only holds remain', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0, turnMs: 60_000 } })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay', { id: 'one' }])
    await rig.tool('pay').next()
    const second = await rig.session.supersede('pay again')
    await rig.time.advance(0)
    ;(await rig.model.next()).calls(['pay', { id: 'two' }])
    await rig.time.advance(3_600_000)
    expect((await rig.session.tasks()).at(-1)?.state).toBe('running')
    await rig.session.acknowledge('all')
    ;(await rig.tool('pay').next()).returns('paid')
    ;(await rig.model.next()).text('paid it')
    expect((await second.outcome()).status).toBe('completed')
    await checkAll(rig)
  })
})
