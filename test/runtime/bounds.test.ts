import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from './kit/check.ts'
import { openRig, type Rig } from './kit/rig.ts'

/* INV-15 (the budget and the window) and INV-23 (every bound) on a running system. */
const tools = { look: { effect: 'read' }, pay: { effect: 'mutate' } } as const

/** Runs the turn's rounds of one `look` each until the model is asked no more; says how often it was asked. */
async function rounds(rig: Rig, args: (round: number) => unknown, end: (rig: Rig) => Promise<void>): Promise<number> {
  for (let round = 0; round < 200; round += 1) {
    if ((await rig.model.waiting()) === 0) return round
    ;(await rig.model.next()).calls(['look', args(round)])
    await rig.time.settle()
    await end(rig)
  }
  return 200
}

describe('repetition', () => {
  it('ends the turn at three identical failures, whatever the order of keys', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('try it over and over')
    const args = (round: number) => (round === 1 ? { note: 'n', id: 'a' } : { id: 'a', note: 'n' })
    const asked = await rounds(rig, args, async () => (await rig.tool('look').next()).throws(new Error('broken')))
    expect(asked).toBe(3)
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'REPEATED_FAILURE' })
    await checkAll(rig)
  })

  it('does not count failures that differ, or that another outcome stands between', async () => {
    const rig = await openRig({ tools })
    await rig.session.start('try different things')
    for (const id of ['a', 'a', 'b', 'a', 'a']) {
      ;(await rig.model.next()).calls(['look', { id }])
      ;(await rig.tool('look').next()).throws(new Error('broken'))
    }
    ;(await rig.model.next()).calls(['look', { id: 'c' }])
    ;(await rig.tool('look').next()).returns('works')
    for (const id of ['a', 'a']) {
      ;(await rig.model.next()).calls(['look', { id }])
      ;(await rig.tool('look').next()).throws(new Error('broken'))
    }
    ;(await rig.model.next()).text('enough')
    await rig.time.settle()
    expect((await rig.session.tasks())[0]?.status).toBe('completed')
    await checkAll(rig)
  })

  it('ends the turn at three identical denials, counted over a restart', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('ask for what is not there')
    ;(await rig.model.next()).calls(['nothing', { id: 'a' }])
    ;(await rig.model.next()).calls(['nothing', { id: 'a' }])
    await rig.model.next()
    await rig.crashAndReopen()
    ;(await rig.model.next()).calls(['nothing', { id: 'a' }])
    expect(await rig.session.task(handle.id).outcome()).toMatchObject({ status: 'failed', code: 'REPEATED_DENIAL' })
    await checkAll(rig)
  })

  it('ends the turn when one answer asks three times for the same thing that is denied', async () => {
    const rig = await openRig({ tools })
    const handle = await rig.session.start('ask thrice at once')
    ;(await rig.model.next()).calls(
      ['nothing', { id: 'a' }],
      ['nothing', { id: 'a' }],
      ['nothing', { id: 'a' }],
      ['look'],
    )
    await rig.time.settle()
    for (const call of rig.tool('look').calls) call.returns('looked')
    await rig.time.settle()
    expect((await rig.session.tasks())[0]?.state).toBe('terminal')
    expect((await handle.outcome()).code).toBe('REPEATED_DENIAL')
    await checkAll(rig)
  })
})

describe('bounds of a turn', () => {
  it('ends the turn when it has taken its steps, and names the bound', async () => {
    const rig = await openRig({ tools, limits: { stepsPerTurn: 3 } })
    const handle = await rig.session.start('never stop')
    const asked = await rounds(
      rig,
      (round) => ({ id: String(round) }),
      async () => (await rig.tool('look').next()).returns('on'),
    )
    expect(asked).toBe(3)
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED', steps: 3 })
    const exceeded = (await rig.facts()).find((fact) => fact.type === 'budget.exceeded')
    expect(exceeded?.data).toMatchObject({ what: 'stepsPerTurn', limit: 3 })
    await checkAll(rig)
  })

  it('records calls beyond its bound and does not run them', async () => {
    const rig = await openRig({ tools, limits: { callsPerTurn: 2 } })
    const handle = await rig.session.start('three at once')
    ;(await rig.model.next()).calls(['look', { id: '1' }], ['look', { id: '2' }], ['look', { id: '3' }])
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    const facts = await rig.facts()
    expect(facts.filter((fact) => fact.type === 'call.requested').length).toBe(3)
    expect(facts.filter((fact) => fact.type === 'call.started').length).toBe(0)
    expect(facts.find((fact) => fact.type === 'budget.exceeded')?.data).toMatchObject({ what: 'callsPerTurn' })
    await checkAll(rig)
  })

  it('ends the turn at its wall time, with the barrier for what runs', async () => {
    const rig = await openRig({ tools, limits: { turnMs: 10_000, graceMs: 1_000 } })
    const handle = await rig.session.start('take for ever')
    ;(await rig.model.next()).calls(['look'])
    const call = await rig.tool('look').next()
    await rig.time.advance(10_000)
    expect(call.aborted).toBe(true)
    await rig.time.advance(1_000)
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    await checkAll(rig)
  })

  it('refuses what no request can carry', async () => {
    const rig = await openRig({ context: { windowTokens: 2_000, reserveTokens: 500, thresholdTokens: 1_500 } })
    const handle = await rig.session.start('x'.repeat(1_600))
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'CONTEXT_OVERFLOW' })
    expect(rig.model.asked).toEqual([])
    const accounted = (await rig.facts()).find((fact) => fact.type === 'context.accounted')
    expect(accounted?.data).toMatchObject({ admitted: false, reserve: 500, window: 2_000 })
    await checkAll(rig)
  })
})

describe('the budget of a session', () => {
  it('warns at half and at nine tenths, once each, and ends the turn that it does not pay for', async () => {
    const rig = await openRig({ tools, budget: { tokens: 20_000 } })
    const spend = async (input: number, output: number, id: string) => {
      const calls = [{ name: 'look', arguments: { id } }]
      ;(await rig.model.next()).says({ calls, usage: { input, output } })
      ;(await rig.tool('look').next()).returns('looked')
      await rig.time.settle()
    }
    const handle = await rig.session.start('spend it all')
    await spend(6_000, 2_000, '1')
    await spend(3_000, 0, '2')
    await spend(7_200, 0, '3')
    const last = await rig.model.next()
    expect(last.request.maxOutput).toBeLessThan(1_800)
    last.says({ calls: [{ name: 'look', arguments: { id: '4' } }], usage: { input: 1_800, output: 200 } })
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    const facts = await rig.facts()
    const warnings = facts.filter((fact) => fact.type === 'budget.warning')
    expect(warnings.map((fact) => fact.data.percent)).toEqual([50, 90])
    expect(facts.filter((fact) => fact.type === 'call.started').length).toBe(3)
    expect(facts.find((fact) => fact.type === 'budget.exceeded')?.data).toMatchObject({ limit: 20_000, used: 20_200 })
    expect((await rig.session.state()).budget).toMatchObject({ used: 20_200, reserved: 0, limit: 20_000 })
    await checkAll(rig)
  })

  it('lets a final answer at the limit stand, and the next turn fail', async () => {
    const rig = await openRig({ budget: { tokens: 10_000 } })
    const first = await rig.session.start('the first one')
    ;(await rig.model.next()).says({ text: 'all spent', usage: { input: 9_000, output: 2_000 } })
    expect((await first.outcome()).status).toBe('completed')
    const second = await rig.session.start('the second one')
    expect(await second.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    expect(rig.model.asked.length).toBe(1)
    await checkAll(rig)
  })

  it('reserves what a request may cost while it is in flight, and charges an abandoned one an estimate', async () => {
    const rig = await openRig({ budget: { tokens: 100_000 }, settings: { maxOutput: 1_000 } })
    await rig.session.start('reserve for me')
    const request = await rig.model.next()
    expect(request.request.maxOutput).toBe(1_000)
    const accounted = (await rig.facts()).find((fact) => fact.type === 'context.accounted')
    const occupancy = accounted?.type === 'context.accounted' ? accounted.data.occupancy : 0
    expect((await rig.session.state()).budget).toMatchObject({ used: 0, reserved: Math.ceil(occupancy / 4) + 1_000 })
    request.send({ type: 'text', text: 'abcdefgh' })
    await rig.time.settle()
    await rig.session.cancel()
    const abandoned = (await rig.facts()).find((fact) => fact.type === 'model.abandoned')
    expect(abandoned?.data).toMatchObject({
      reason: 'cancelled',
      charged: { input: Math.ceil(occupancy / 4), output: 2, estimated: true },
    })
    expect((await rig.session.state()).budget).toMatchObject({ used: Math.ceil(occupancy / 4) + 2, reserved: 0 })
    await checkAll(rig)
  })

  it('is fixed when the session opens and outlives a runtime', async () => {
    const rig = await openRig({ budget: { tokens: 5_000 } })
    const first = await rig.session.start('the first one')
    ;(await rig.model.next()).says({ text: 'all spent', usage: { input: 5_000, output: 0 } })
    await first.outcome()
    await rig.close()
    await rig.open()
    const second = await rig.session.start('once more please')
    expect((await second.outcome()).code).toBe('BUDGET_EXCEEDED')
    await checkAll(rig)
  })
})

it('bounds what waits: queue, pending steering, and the size of one steer', async () => {
  const rig = await openRig({ limits: { queuedPerSession: 2, pendingSteeringPerTask: 2, steeringBytes: 64 } })
  await rig.session.start('keep busy')
  await rig.session.followUp('one')
  await rig.session.followUp('two')
  expect((await refusal(rig.session.followUp('three'))).details).toMatchObject({ which: 'queuedPerSession', bound: 2 })
  await rig.session.steer('one')
  await rig.session.steer('two')
  const third = await refusal(rig.session.steer('three'))
  expect([third.code, third.details]).toMatchObject(['LIMIT_EXCEEDED', { which: 'pendingSteeringPerTask', bound: 2 }])
  const long = await refusal(() => rig.session.steer('x'.repeat(65)))
  expect([long.code, long.details]).toMatchObject(['LIMIT_EXCEEDED', { which: 'steeringBytes', bound: 64, got: 65 }])
  await checkAll(rig)
})
