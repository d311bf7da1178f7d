import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from './kit/check.ts'
import { openRig, scope } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' } } as const

describe('start while a turn is active', () => {
  it('is refused, naming the turn and what would be accepted, and guesses nothing', async () => {
    const rig = await openRig({ tools })
    const first = await rig.session.start('the first')
    const before = await rig.stepCount()
    const busy = await refusal(rig.session.start('the second'))
    expect(busy.code).toBe('SESSION_BUSY')
    expect(busy.details.task).toBe(first.id)
    expect(busy.details.accepted).toEqual(expect.arrayContaining(['steer', 'followUp', 'supersede', 'cancel']))
    expect(await rig.stepCount()).toBe(before)
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.cancel()
    const ending = await refusal(rig.session.start('the second'))
    expect([ending.code, ending.details.task]).toEqual(['SESSION_BUSY', first.id])
    expect(ending.details.accepted).not.toContain('steer')
    call.acknowledges()
    await rig.time.settle()
    expect((await rig.session.start('the second')).receipt.result).toBe('applied')
    await checkAll(rig)
  })

  it('lets one of two starts at once win', async () => {
    const rig = await openRig()
    const results = await Promise.allSettled([rig.session.start('one'), rig.session.start('two')])
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected'])
    expect(rig.model.asked.length + (await rig.model.waiting())).toBeGreaterThan(0)
    expect(rig.model.asked.length).toBe(1)
    await checkAll(rig)
  })
})

describe('close', () => {
  it('is refused while a turn is active, unless it cancels', async () => {
    const rig = await openRig({ tools })
    const first = await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    for (const command of [rig.session.close(), rig.session.erase()]) {
      const { code, details } = await refusal(command)
      expect([code, details.accepted]).toEqual(['SESSION_BUSY', expect.any(Array)])
    }
    await rig.session.close({ cancel: true, reason: 'good night' })
    expect((await rig.steps()).at(-1)).toBe(
      'session.closing {close} · task.cancelling T1 {cancelled} · call.aborting C1 {cancel} · task.quiescing T1 {C1}',
    )
    call.acknowledges()
    await rig.time.settle()
    expect((await rig.steps()).at(-1)).toBe(
      'call.cancelled C1 {acknowledged} · message.added T1 {tool synthetic C1} · task.cancelled T1 · session.closed',
    )
    expect((await first.outcome()).status).toBe('cancelled')
    await checkAll(rig)
  })

  it('refuses what begins something, and takes what ends or undoes it', async () => {
    const rig = await openRig({ tools, limits: { graceMs: 0 } })
    const first = await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.close({ cancel: true })
    await rig.time.advance(0)
    const refused = {
      start: () => rig.session.start('x'),
      followUp: () => rig.session.followUp('x'),
      supersede: () => rig.session.supersede('x'),
      steer: () => rig.session.steer('x'),
    }
    for (const [name, command] of Object.entries(refused))
      expect([name, (await refusal(command())).code]).toEqual([name, 'SESSION_CLOSED'])
    expect((await rig.session.cancel({ task: first.id })).result).toBe('too_late')
    expect((await rig.session.acknowledge([call.id])).result).toBe('applied')
    expect((await rig.session.reopen()).result).toBe('applied')
    expect((await rig.session.start('the second')).receipt.result).toBe('applied')
    ;(await rig.model.next()).text('open again')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('keeps pending turns, and starts the replacement first after a reopen', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    const follow = await rig.session.followUp('the follow-up')
    const replacement = await rig.session.supersede('the replacement')
    await rig.session.close({ cancel: true })
    call.acknowledges()
    await rig.time.settle()
    expect((await rig.session.queue()).map((task) => task.id)).toEqual([replacement.id, follow.id])
    await rig.crashAndReopen()
    expect(await rig.model.waiting()).toBe(0)
    expect((await rig.runtime.sessions({ tenant: 't', user: 'u' }))[0]).toMatchObject({ state: 'closed', queued: 2 })
    await rig.session.reopen()
    const request = await rig.model.next()
    expect(request.lastMessage?.content).toBe('the replacement')
    request.text('replaced')
    const next = await rig.model.next()
    expect(next.lastMessage?.content).toBe('the follow-up')
    next.text('followed')
    await rig.time.settle()
    await checkAll(rig)
  })

  it('with a blocked head does not start it after a reopen', async () => {
    const rig = await openRig()
    await rig.session.start('the first')
    const blocked = await rig.session.followUp('needs it', { requires: 'success' })
    await rig.session.cancel()
    await rig.session.close()
    await rig.session.reopen()
    await rig.time.settle()
    expect(rig.model.asked.length).toBe(1)
    expect((await rig.session.queue()).map((task) => [task.id, task.state])).toEqual([[blocked.id, 'blocked']])
    await checkAll(rig)
  })

  it('refuses a reopen while it is under way, and a second close', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.close({ cancel: true })
    expect(await rig.session.close({ cancel: true })).toEqual({ result: 'joined' })
    expect((await refusal(rig.session.reopen())).code).toMatch(/SESSION_CLOSED|INVALID_TRANSITION/)
    expect((await refusal(rig.session.start('x'))).code).toBe('SESSION_CLOSED')
    call.acknowledges()
    await rig.time.settle()
    expect((await refusal(rig.session.close())).code).toBe('SESSION_CLOSED')
    expect((await rig.session.reopen()).result).toBe('applied')
    expect((await refusal(rig.session.reopen())).code).toBe('INVALID_TRANSITION')
    await checkAll(rig)
  })
})

describe('erase', () => {
  it('is the last fact, takes content with it, and cancels what waits', async () => {
    const rig = await openRig()
    const first = await rig.session.start('a secret question')
    const waiting = await rig.session.followUp('a secret plan')
    ;(await rig.model.next()).text('a secret answer')
    await first.outcome()
    await rig.model.next()
    await rig.session.erase({ cancel: true })
    await rig.time.settle()
    const facts = await rig.facts()
    expect(facts.at(-1)?.type).toBe('session.erased')
    expect((await waiting.outcome()).status).toBe('cancelled')
    expect(await rig.session.messages()).toEqual([])
    expect((await refusal(rig.session.request({ seq: 6 }))).code).toBe('SESSION_ERASED')
    const commands = {
      start: () => rig.session.start('x'),
      reopen: () => rig.session.reopen(),
      close: () => rig.session.close(),
      erase: () => rig.session.erase(),
      steer: () => rig.session.steer('x'),
      followUp: () => rig.session.followUp('x'),
      supersede: () => rig.session.supersede('x'),
      acknowledge: () => rig.session.acknowledge('all'),
    }
    for (const [name, command] of Object.entries(commands))
      expect([name, (await refusal(command())).code]).toEqual([name, 'SESSION_ERASED'])
    expect((await rig.facts()).length).toBe(facts.length)
    await checkAll(rig)
  })

  it('cancels pending turns of a closed session', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('the first')
    const follow = await rig.session.followUp('the follow-up')
    const replacement = await rig.session.followUp('the third')
    await rig.model.next()
    await rig.session.close({ cancel: true })
    await rig.time.settle()
    await rig.session.erase()
    await rig.time.settle()
    const terminals = await Promise.all([follow.outcome(), replacement.outcome()])
    expect(terminals.map((outcome) => outcome.status)).toEqual(['cancelled', 'cancelled'])
    expect((await rig.facts()).at(-1)?.type).toBe('session.erased')
    await checkAll(rig)
  })

  it('upgrades a close that is under way', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    await rig.session.close({ cancel: true })
    expect((await rig.session.erase({ cancel: true })).result).toBe('applied')
    call.acknowledges()
    await rig.time.settle()
    const closings = (await rig.facts()).filter((fact) => fact.type === 'session.closing')
    expect(closings.map((fact) => fact.data.then)).toEqual(['close', 'erase'])
    expect((await rig.facts()).at(-1)?.type).toBe('session.erased')
    await checkAll(rig)
  })

  it('is finished after a crash, and known after another one', async () => {
    const rig = await openRig({ tools, system: 'You keep secrets.' })
    await rig.session.start('the first')
    ;(await rig.model.next()).calls(['look'])
    await rig.tool('look').next()
    await rig.session.followUp('the follow-up')
    await rig.session.erase({ cancel: true })
    await rig.crashAndReopen()
    await rig.time.settle()
    const facts = await rig.facts()
    expect(facts.at(-1)?.type).toBe('session.erased')
    expect(await rig.session.messages()).toEqual([])
    await rig.crashAndReopen()
    expect((await refusal(rig.session.start('x'))).code).toBe('SESSION_ERASED')
    expect((await rig.session.tasks()).map((task) => task.status)).toEqual(['cancelled', 'cancelled'])
    await checkAll(rig)
  })
})

describe('sessions of one runtime', () => {
  it('know nothing of each other', async () => {
    const rig = await openRig()
    const other = rig.runtime.session({ ...scope, session: 'other' })
    await rig.session.start('for the first session')
    const handle = await other.start('for the other session')
    await rig.model.next()
    const request = await rig.model.next()
    expect(request.request.messages.map((message) => message.content)).toEqual(['for the other session'])
    request.text('fine')
    await handle.outcome()
    expect((await refusal(rig.session.task(handle.id).outcome())).code).toBe('NOT_FOUND')
    expect((await refusal(rig.session.cancel({ task: handle.id }))).code).toBe('NOT_FOUND')
    expect((await other.log()).every((fact) => fact.session === 'other')).toBe(true)
    const stranger = rig.runtime.session({ ...scope, user: 'stranger' })
    expect(await stranger.log()).toEqual([])
    expect(await rig.runtime.sessions({ tenant: 't', user: 'stranger' })).toEqual([])
    await checkAll(rig, [other])
  })
})

describe('closing the runtime', () => {
  it('waits for what runs, records it, and starts nothing more', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    const call = await rig.tool('pay').next()
    const closed = rig.runtime.close()
    await rig.time.advance(1_000)
    expect((await refusal(rig.session.steer('x'))).code).toBe('SHUTTING_DOWN')
    expect(call.aborted).toBe(false)
    call.returns('paid')
    await rig.time.advance(1_000)
    await closed
    expect(rig.model.asked.length).toBe(1)
    await rig.open()
    ;(await rig.model.next()).text('paid indeed')
    expect(await rig.session.task(handle.id).outcome()).toMatchObject({
      status: 'completed',
      calls: { succeededMutating: 1 },
    })
    expect((await rig.facts()).some((fact) => fact.type === 'call.unknown')).toBe(false)
    await checkAll(rig)
  })

  it('leaves what does not end within the grace as a crash does', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('the first')
    ;(await rig.model.next()).calls(['pay'])
    await rig.tool('pay').next()
    await rig.close()
    await rig.open()
    ;(await rig.model.next()).text('nobody knows')
    expect(await rig.session.task(handle.id).outcome()).toMatchObject({
      status: 'completed',
      calls: { unknownMutating: 1 },
    })
    await checkAll(rig)
  })

  it('lets a request that ends in time be recorded', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('the first')
    const request = await rig.model.next()
    const closed = rig.runtime.close()
    await rig.time.advance(1_000)
    request.calls(['pay'])
    await rig.time.advance(1_000)
    await closed
    expect(rig.tool('pay').calls).toEqual([])
    await rig.open()
    ;(await rig.tool('pay').next()).returns('paid')
    ;(await rig.model.next()).text('done')
    expect((await rig.session.task(handle.id).outcome()).status).toBe('completed')
    await checkAll(rig)
  })
})
