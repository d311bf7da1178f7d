import { describe, expect, it } from 'vitest'
import { checkAll } from './kit/check.ts'
import { retryWait } from './kit/retry-wait.ts'
import { openRig, type Rig } from './kit/rig.ts'

const tools = { look: { effect: 'read' }, put: { effect: 'idempotent' }, pay: { effect: 'mutate' } } as const
const onward = 'context.accounted T1 · model.requested T1'
const end = 'model.completed T1 · message.added T1 {assistant} · task.completed T1'

async function status(rig: Rig): Promise<unknown> {
  await rig.time.settle()
  return (await rig.session.tasks())[0]?.status
}

describe('after a crash with calls in flight', () => {
  it('settles what changes, tries the others again, and holds the idempotent one', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do three things')
    ;(await rig.model.next()).calls(['look'], ['put'], ['pay'])
    await rig.tool('look').next()
    const put = await rig.tool('put').next()
    const pay = await rig.tool('pay').next()
    await rig.crashAndReopen()
    const look = await rig.tool('look').next()
    expect(await rig.stepsAfter(2)).toEqual([
      'session.owned · run.resumed T1 {crash} · call.unknown C3 {crash} · mutation.quarantined {C3} · call.interrupted C1 · ' +
        'call.started C1 {attempt 2} · call.interrupted C2 · call.held C2 {quarantine}',
    ])
    look.returns('seen')
    await rig.time.settle()
    await rig.session.acknowledge([pay.id])
    const again = await rig.tool('put').next()
    expect([again.context.attempt, again.context.idempotencyKey]).toEqual([2, put.context.idempotencyKey])
    again.returns('stored')
    ;(await rig.model.next()).text('two of three')
    expect(await status(rig)).toBe('completed')
    expect(await rig.stepsAfter(3)).toEqual([
      'call.finished C1',
      'mutation.acknowledged {C3} · call.started C2 {attempt 2}',
      `call.finished C2 · message.added T1 {tool C1} · message.added T1 {tool C2} · message.added T1 {tool synthetic C3} · ${onward}`,
      end,
    ])
    expect(rig.tool('pay').calls.length).toBe(1)
    await checkAll(rig)
  })

  it('asks the probe of what changes, where there is one', async () => {
    for (const said of ['succeeded', 'failed', 'unknown'] as const) {
      const rig = await openRig({ tools: { pay: { effect: 'mutate', verify: async () => said } } })
      await rig.session.start('pay')
      ;(await rig.model.next()).calls(['pay'])
      await rig.tool('pay').next()
      await rig.crashAndReopen()
      ;(await rig.model.next()).text('so it is')
      expect(await status(rig)).toBe('completed')
      expect((await rig.session.state()).quarantined.length).toBe(said === 'unknown' ? 1 : 0)
      expect(rig.tool('pay').calls.length).toBe(1)
      await checkAll(rig)
    }
  })

  it('asks a probe again that was under way', async () => {
    let probes = 0
    const verify = () => {
      probes += 1
      return probes === 1 ? new Promise<never>(() => {}) : Promise.resolve('succeeded' as const)
    }
    const rig = await openRig({ tools: { pay: { effect: 'mutate', verify } }, limits: { graceMs: 0 } })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay'])
    await rig.session.cancel()
    await rig.time.advance(0)
    expect(probes).toBe(0 + (rig.tool('pay').calls.length > 0 ? 1 : 0))
    await rig.crashAndReopen()
    expect(await status(rig)).toBe('cancelled')
    await checkAll(rig)
  })

  it('does not try again beyond the bound of attempts', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('look')
    ;(await rig.model.next()).calls(['look'])
    for (let crash = 0; crash < 6; crash += 1) await rig.crashAndReopen()
    await rig.time.settle()
    expect(rig.tool('look').calls.length).toBeLessThanOrEqual(4)
    while ((await rig.model.waiting()) > 1) await rig.model.next()
    ;(await rig.model.next()).text('it never worked')
    expect(await status(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('keeps a deadline of a call that it tries again from the start of the attempt', async () => {
    const rig = await openRig({ tools: { look: { effect: 'read', timeoutMs: 10_000 } } })
    await rig.session.start('look')
    ;(await rig.model.next()).calls(['look'])
    await rig.time.advance(9_000)
    await rig.crashAndReopen()
    await rig.time.advance(9_000)
    const calls = rig.tool('look').calls
    expect(calls.map((call) => call.aborted)).toEqual([false, false])
    await rig.time.advance(1_000)
    expect(calls.at(-1)?.aborted).toBe(true)
    calls.at(-1)?.acknowledges()
    ;(await rig.model.next()).text('too slow')
    expect(await status(rig)).toBe('completed')
    await checkAll(rig)
  })
})

describe('after a crash with a request in flight', () => {
  it('charges it and asks again', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    const lost = await rig.model.next()
    await rig.crashAndReopen()
    const request = await rig.model.next()
    expect([request.attempt, request.request]).toEqual([2, lost.request])
    request.text('a poem')
    expect(await status(rig)).toBe('completed')
    expect(await rig.stepsAfter(1)).toEqual([
      `session.owned · run.resumed T1 {crash} · model.abandoned T1 {crash} · ${onward}`,
      end,
    ])
    expect((await rig.facts()).find((fact) => fact.type === 'model.abandoned')?.data).toMatchObject({
      charged: { estimated: true },
    })
    await checkAll(rig)
  })

  it('gives up after four attempts', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    for (let crash = 0; crash < 6; crash += 1) await rig.crashAndReopen()
    expect(await status(rig)).toBe('failed')
    expect(rig.model.asked.length).toBeLessThanOrEqual(4)
    await checkAll(rig)
  })

  it('waits for a stored retry as if nothing had happened, and writes nothing before it', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    ;(await rig.model.next()).fails('RATE_LIMITED', true, 60_000)
    await rig.time.settle()
    const wait = await retryWait(rig)
    const before = await rig.stepCount()
    await rig.crashAndReopen()
    expect(await rig.stepCount()).toBe(before)
    await rig.time.advance(wait - 1)
    expect(await rig.model.waiting()).toBe(0)
    await rig.time.advance(1)
    ;(await rig.model.next()).text('a poem')
    expect(await status(rig)).toBe('completed')
    expect(await rig.stepsAfter(before)).toEqual([`session.owned · run.resumed T1 {crash} · ${onward}`, end])
    await checkAll(rig)
  })

  it('asks at once when the retry is overdue', async () => {
    const rig = await openRig()
    await rig.session.start('write a poem')
    ;(await rig.model.next()).fails('RATE_LIMITED', true, 1_000)
    await rig.time.settle()
    rig.crash()
    await rig.time.advance(60_000)
    await rig.open()
    await rig.time.advance(0)
    ;(await rig.model.next()).text('a poem')
    expect(await status(rig)).toBe('completed')
    await checkAll(rig)
  })
})

describe('after a crash in a barrier', () => {
  it('finishes it, without trying anything again, and then starts what waits', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('do three things')
    ;(await rig.model.next()).calls(['look'], ['put'], ['pay'])
    await rig.tool('pay').next()
    const second = await rig.session.supersede('do something else')
    await rig.crashAndReopen()
    const request = await rig.model.next()
    expect(await rig.stepsAfter(3)).toEqual([
      'session.owned · run.resumed T1 {crash} · call.unknown C3 {crash} · mutation.quarantined {C3} · ' +
        'call.cancelled C1 {interrupted} · call.unknown C2 {crash} · message.added T1 {tool synthetic C1} · ' +
        'message.added T1 {tool synthetic C2} · message.added T1 {tool synthetic C3} · task.superseded T1 · task.started T2 · ' +
        'message.added T2 {system} · message.added T2 {user} · context.accounted T2 · model.requested T2',
    ])
    request.text('did it')
    expect((await rig.session.task(second.id).outcome()).status).toBe('completed')
    expect(['look', 'put', 'pay'].map((name) => rig.tool(name).calls.length)).toEqual([1, 1, 1])
    await checkAll(rig)
  })

  it('finishes a close', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('pay')
    ;(await rig.model.next()).calls(['pay'])
    await rig.tool('pay').next()
    await rig.session.followUp('later')
    await rig.session.close({ cancel: true })
    await rig.crashAndReopen()
    await rig.time.settle()
    expect((await rig.steps()).at(-1)).toBe(
      'session.owned · run.resumed T1 {crash} · call.unknown C1 {crash} · mutation.quarantined {C1} · ' +
        'message.added T1 {tool synthetic C1} · task.cancelled T1 · session.closed',
    )
    expect(await rig.model.waiting()).toBe(0)
    await checkAll(rig)
  })

  it('settles a call whose deadline had passed', async () => {
    const rig = await openRig({
      tools: {
        look: { effect: 'read', timeoutMs: 1_000 },
        put: { effect: 'idempotent', timeoutMs: 1_000 },
        pay: { effect: 'mutate', timeoutMs: 1_000 },
      },
    })
    await rig.session.start('do three things')
    ;(await rig.model.next()).calls(['look'], ['put'], ['pay'])
    await rig.time.advance(1_000)
    await rig.crashAndReopen()
    ;(await rig.model.next()).text('all of them slow')
    expect(await status(rig)).toBe('completed')
    expect(['look', 'put', 'pay'].map((name) => rig.tool(name).calls.length)).toEqual([1, 1, 1])
    await checkAll(rig)
  })
})
