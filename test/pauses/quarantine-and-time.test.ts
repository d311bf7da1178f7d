import { describe, expect, it } from 'vitest'
import { OutcomeUnknownError } from '../../src/facts/errors.ts'
import { checkAll } from '../runtime/kit/check.ts'
import { openRig, type Rig, type RigOptions } from '../runtime/kit/rig.ts'
import { acting, end, onward, pauses, stateOf, tokens } from './kit/pausing.ts'

const tools = {
  look: { effect: 'read' },
  put: { effect: 'idempotent' },
  pay: { effect: 'mutate' },
  wire: { effect: 'mutate', confirm: 'each' },
} as const

/** The first call of the turn loses its answer; its session is quarantined from then on. */
async function quarantined(options: RigOptions, ...calls: (readonly [name: string, args?: unknown])[]): Promise<Rig> {
  const rig = await openRig({ tools, ...options })
  await acting(rig, ['pay', { id: 'lost' }])
  ;(await rig.tool('pay').next()).throws(new OutcomeUnknownError('the connection died'))
  ;(await rig.model.next()).calls(...calls)
  await rig.time.settle()
  return rig
}

describe('a quarantine beside pauses', () => {
  it('keeps the task running while it holds a call', async () => {
    const rig = await quarantined({}, ['pay'], ['wire'])
    expect(await stateOf(rig)).toBe('running')
    expect((await rig.session.pauses()).map((pause) => pause.reason)).toEqual(['approval'])
    await rig.session.acknowledge('all')
    expect((await rig.steps()).at(-1)).toBe('mutation.acknowledged {C1} · call.started C2')
    ;(await rig.tool('pay').next()).returns()
    expect(await stateOf(rig)).toBe('paused')
    const [token = ''] = await tokens(rig)
    await rig.session.confirm(token, 'allow')
    ;(await rig.tool('wire').next()).returns()
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('holds a call that was approved, and runs it after the acknowledgement without asking again', async () => {
    const rig = await quarantined({}, ['wire'])
    expect(await stateOf(rig)).toBe('paused')
    const [token = ''] = await tokens(rig)
    await rig.session.confirm(token, 'allow')
    expect((await rig.steps()).at(-1)).toBe('pause.settled C2 {approve} · task.resumed T1 · call.held C2 {quarantine}')
    expect(await stateOf(rig)).toBe('running')
    await rig.crashAndReopen()
    await rig.session.acknowledge('all')
    ;(await rig.tool('wire').next()).returns()
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('holds a call that a tool has put off, once it was answered', async () => {
    const rig = await openRig({ tools })
    await acting(rig, ['pay', { id: 'asks' }], ['pay', { id: 'lost' }])
    await pauses(rig, await rig.tool('pay').next(), { reason: 'input' })
    ;(await rig.tool('pay').next()).throws(new OutcomeUnknownError('the connection died'))
    const [token = ''] = await tokens(rig)
    await rig.session.resume(token, { decision: 'resume', input: 1 })
    expect((await rig.steps()).at(-1)).toBe('pause.settled C1 {resume} · task.resumed T1 · call.held C1 {quarantine}')
    await rig.session.acknowledge('all')
    const again = await rig.tool('pay').next()
    expect(again.context.resumed).toEqual({ decision: 'resume', input: 1 })
    again.returns()
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it("that ends during the task's own pause starts nothing until that is settled", async () => {
    const rig = await quarantined({}, ['pay', { id: '2' }])
    await rig.session.pause()
    expect(await stateOf(rig)).toBe('paused')
    await rig.session.acknowledge('all')
    expect((await rig.steps()).at(-1)).toBe('mutation.acknowledged {C1}')
    await rig.crashAndReopen()
    const [own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'resume' })
    ;(await rig.tool('pay').next()).returns()
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('that outlasts the own pause goes on holding', async () => {
    const rig = await quarantined({}, ['pay', { id: '2' }])
    await rig.session.pause()
    const [own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'resume' })
    expect(await stateOf(rig)).toBe('running')
    expect(rig.tool('pay').calls.length).toBe(1)
    await rig.session.acknowledge('all')
    ;(await rig.tool('pay').next()).returns()
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })
})

describe("onUnknown: 'pause'", () => {
  const options = { tools, onUnknown: 'pause' } as const

  it('rests the task until the unknown outcome is acknowledged', async () => {
    const rig = await openRig(options)
    await acting(rig, ['pay'])
    const call = await rig.tool('pay').next()
    call.throws(new OutcomeUnknownError('the connection died'))
    expect(await stateOf(rig)).toBe('paused')
    expect(await rig.session.pauses()).toMatchObject([{ reason: 'acknowledgement' }])
    expect(await rig.model.waiting()).toBe(0)
    await rig.crashAndReopen()
    expect(await stateOf(rig)).toBe('paused')
    await rig.session.acknowledge([call.id])
    const request = await rig.model.next()
    expect(request.lastMessage).toMatchObject({ role: 'tool' })
    request.text('noted')
    expect(await stateOf(rig)).toBe('completed')
    expect(await rig.stepsAfter(2)).toEqual([
      'call.unknown C1 {transport} · mutation.quarantined {C1} · message.added T1 {tool synthetic C1} · ' +
        'pause.requested T1 {acknowledgement} · task.paused T1',
      'session.owned · run.resumed T1 {crash} · mutation.acknowledged {C1} · pause.settled T1 {resume} · ' +
        `task.resumed T1 · ${onward}`,
      end,
    ])
    await checkAll(rig)
  })

  it('does so after a crash', async () => {
    const rig = await openRig(options)
    await acting(rig, ['look'], ['pay'])
    await rig.tool('pay').next()
    await rig.crashAndReopen()
    expect(await stateOf(rig)).toBe('paused')
    expect((await rig.steps()).at(-1)).toBe(
      'session.owned · run.resumed T1 {crash} · call.unknown C2 {crash} · mutation.quarantined {C2} · ' +
        'pause.requested T1 {acknowledgement} · call.interrupted C1 · task.paused T1',
    )
    await rig.session.acknowledge('all')
    const looks = rig.tool('look')
    await rig.time.settle()
    expect(looks.calls.length).toBe(2)
    looks.calls[1]?.returns('seen')
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    expect(rig.tool('pay').calls.length).toBe(1)
    await checkAll(rig)
  })

  it('waits for what runs, and starts nothing of the batch before the acknowledgement', async () => {
    const rig = await openRig({ ...options, limits: { parallelCalls: 2 } })
    await acting(rig, ['pay'], ['look', { id: '1' }], ['look', { id: '2' }])
    ;(await rig.tool('pay').next()).throws(new OutcomeUnknownError('the connection died'))
    ;(await rig.tool('look').next()).returns()
    expect(await stateOf(rig)).toBe('paused')
    expect(rig.tool('look').calls.length).toBe(1)
    await rig.session.acknowledge('all')
    ;(await rig.tool('look').next()).returns()
    ;(await rig.model.next()).text('done')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('may be settled as a pause: the quarantine then stands, and a rejection fails the task', async () => {
    for (const decision of ['resume', 'reject'] as const) {
      const rig = await openRig(options)
      await acting(rig, ['pay'])
      ;(await rig.tool('pay').next()).throws(new OutcomeUnknownError('the connection died'))
      const [token = ''] = await tokens(rig)
      await rig.session.resume(token, { decision })
      if (decision === 'resume') (await rig.model.next()).text('noted')
      expect(await stateOf(rig)).toBe(decision === 'resume' ? 'completed' : 'failed')
      expect((await rig.session.state()).quarantined.length).toBe(1)
      await checkAll(rig)
    }
  })

  it('joins a pause of the operator that is open', async () => {
    const rig = await openRig(options)
    await acting(rig, ['pay'])
    await rig.session.pause()
    ;(await rig.tool('pay').next()).throws(new OutcomeUnknownError('the connection died'))
    expect(await stateOf(rig)).toBe('paused')
    expect((await rig.session.pauses()).map((pause) => pause.reason)).toEqual(['operator'])
    await rig.session.acknowledge('all')
    expect(await stateOf(rig)).toBe('paused')
    const [own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'resume' })
    ;(await rig.model.next()).text('noted')
    expect(await stateOf(rig)).toBe('completed')
    await checkAll(rig)
  })

  it('does not hold up a barrier, nor the turn after it', async () => {
    const rig = await openRig({ ...options, limits: { graceMs: 0 } })
    await acting(rig, ['pay'])
    const second = await rig.session.supersede('something else')
    await rig.time.advance(0)
    ;(await rig.model.next()).text('done')
    expect((await rig.session.task(second.id).outcome()).status).toBe('completed')
    expect(await stateOf(rig)).toBe('superseded')
    expect((await rig.session.state()).quarantined.length).toBe(1)
    await checkAll(rig)
  })

  it('is refused when it is no such word', async () => {
    await expect(openRig({ onUnknown: 'stop' as never })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(openRig({ recovery: 'maybe' as never })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('the time of a turn', () => {
  const turnMs = 60_000

  it('does not run while it is paused, also over a restart', async () => {
    const rig = await openRig({ tools, limits: { turnMs } })
    await acting(rig, ['wire'])
    await rig.time.advance(2 * turnMs)
    await rig.crashAndReopen()
    await rig.time.advance(2 * turnMs)
    const [token = ''] = await tokens(rig)
    await rig.session.confirm(token, 'allow')
    await rig.tool('wire').next()
    await rig.time.advance(turnMs - 1)
    expect(await stateOf(rig)).toBe('running')
    await rig.time.advance(1)
    expect(await stateOf(rig)).toBe('quiescing')
    rig.tool('wire').calls[0]?.acknowledges()
    expect(await stateOf(rig)).toBe('failed')
    await checkAll(rig)
  })

  it('does not run while only holds remain, also beside an approval', async () => {
    const rig = await quarantined({ limits: { turnMs } }, ['pay'], ['wire'])
    await rig.time.advance(2 * turnMs)
    await rig.crashAndReopen()
    await rig.time.advance(2 * turnMs)
    expect(await stateOf(rig)).toBe('running')
    await rig.session.acknowledge('all')
    await rig.tool('pay').next()
    await rig.time.advance(turnMs - 1)
    expect(await stateOf(rig)).toBe('running')
    await rig.time.advance(1)
    expect(await stateOf(rig)).toBe('quiescing')
    rig.tool('pay').calls[1]?.acknowledges()
    expect(await stateOf(rig)).toBe('failed')
    await checkAll(rig)
  })

  it('is not moved twice by a pause over a hold', async () => {
    const rig = await quarantined({ limits: { turnMs } }, ['pay', { id: '2' }])
    await rig.time.advance(10_000)
    await rig.session.pause()
    await rig.time.advance(20_000)
    const [own = ''] = await tokens(rig)
    await rig.session.resume(own, { decision: 'resume' })
    await rig.time.advance(5_000)
    await rig.session.acknowledge('all')
    await rig.tool('pay').next()
    await rig.time.advance(turnMs - 1)
    expect(await stateOf(rig)).toBe('running')
    await rig.time.advance(1)
    expect(await stateOf(rig)).toBe('quiescing')
    rig.tool('pay').calls[1]?.acknowledges()
    expect(await stateOf(rig)).toBe('failed')
    await checkAll(rig)
  })
})
