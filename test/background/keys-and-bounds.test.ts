import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { scope } from '../runtime/kit/rig.ts'
import { asked, openJobs, statesOf, told } from './kit.ts'

describe('an idempotency key', () => {
  const body = { limits: { stepsPerTurn: 3, callsPerTurn: 9 } }
  const sameBody = { limits: { callsPerTurn: 9, stepsPerTurn: 3 } }

  it('of two that arrive at once makes one task; another request is a conflict, also after a restart (INV-16)', async () => {
    const rig = await openJobs()
    const [first, second] = await Promise.all([
      rig.session.spawn('job', { idempotencyKey: 'k', ...body }),
      rig.session.spawn('job', { ...sameBody, idempotencyKey: 'k' }),
    ])
    expect([first.id, first.reused, second.id, second.reused]).toEqual([first.id, false, first.id, true])
    expect(second.receipt).toMatchObject({ result: 'joined', reused: true, task: first.id })
    await rig.crashAndReopen()
    const third = await rig.session.spawn('job', { idempotencyKey: 'k', ...sameBody })
    expect([third.id, third.reused]).toEqual([first.id, true])
    const steps = await rig.stepCount()
    for (const other of [
      rig.session.spawn('another job', { idempotencyKey: 'k', ...body }),
      rig.session.spawn('job', { idempotencyKey: 'k' }),
      rig.session.spawn('job', { idempotencyKey: 'k', ...body, propagate: 'isolate' }),
    ])
      expect(await refusal(other)).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', details: { task: first.id } })
    expect(await rig.stepCount()).toBe(steps)
    ;(await asked(rig, 'job')).text('done')
    expect((await third.outcome()).status).toBe('completed')
    expect((await rig.session.spawn('job', { idempotencyKey: 'k', ...body })).reused).toBe(true)
    await checkAll(rig)
  })

  it('says nothing any more of an erased session, before a restart as after it', async () => {
    const rig = await openJobs()
    const job = await rig.session.spawn('job', { idempotencyKey: 'k' })
    ;(await asked(rig, 'job')).text('done')
    await job.outcome()
    await rig.session.erase()
    const again = () => refusal(rig.session.spawn('job', { idempotencyKey: 'k' }))
    expect(await again()).toMatchObject({ code: 'SESSION_ERASED' })
    await rig.crashAndReopen()
    expect(await again()).toMatchObject({ code: 'SESSION_ERASED' })
  })

  it('is compared with every name of the request', async () => {
    const rig = await openJobs()
    const settings = JSON.parse('{"__proto__":{"a":1}}')
    await rig.session.spawn('job', { idempotencyKey: 'k', settings })
    expect((await rig.session.spawn('job', { idempotencyKey: 'k', settings })).reused).toBe(true)
    const other = rig.session.spawn('job', { idempotencyKey: 'k', settings: {} })
    expect(await refusal(other)).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
    await checkAll(rig)
  })

  it('is read from a snapshot too, and not shared with another session; without one nothing is the same', async () => {
    const rig = await openJobs()
    const one = await rig.session.spawn('job', { idempotencyKey: 'k' })
    await rig.session.cancel({ task: one.id })
    await rig.close()
    await rig.open()
    expect((await rig.session.spawn('job', { idempotencyKey: 'k' })).id).toBe(one.id)
    const other = await rig.runtime.session({ ...scope, session: 'other' }).spawn('job', { idempotencyKey: 'k' })
    expect([other.reused, other.id === one.id]).toEqual([false, false])
    const plain = [await rig.session.spawn('job'), await rig.session.spawn('job')]
    expect(new Set(plain.map(({ id }) => id)).size).toBe(2)
    await rig.session.close({ cancel: true })
    await rig.runtime.session({ ...scope, session: 'other' }).close({ cancel: true })
    expect(await statesOf(rig)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  it('that nobody may use is refused; a command id stands beside it', async () => {
    const rig = await openJobs()
    for (const idempotencyKey of ['', '_x', 'a\nb', 'k'.repeat(129)])
      expect(await refusal(rig.session.spawn('job', { idempotencyKey }))).toMatchObject({ code: 'INVALID_INPUT' })
    const first = await rig.session.spawn('job', { idempotencyKey: 'k', commandId: 'c1' })
    const second = await rig.session.spawn('job', { idempotencyKey: 'k', commandId: 'c2' })
    expect([second.receipt.result, second.reused, second.receipt.command]).toEqual(['joined', true, 'c2'])
    const again = await rig.session.spawn('job', { idempotencyKey: 'k', commandId: 'c2' })
    expect(again.receipt).toMatchObject({ result: 'duplicate', reused: true, task: first.id })
    expect((await rig.session.spawn('job', { idempotencyKey: 'k', commandId: 'c1' })).receipt).not.toHaveProperty(
      'reused',
    )
    await rig.session.cancel({ task: first.id })
    await checkAll(rig)
  })
})

describe('the bounds of spawning (INV-23)', () => {
  it('children are eight deep, and no deeper', async () => {
    const rig = await openJobs()
    let parent = (await rig.session.start('the turn')).id
    for (let depth = 1; depth <= 8; depth += 1) parent = (await rig.session.spawn(`at ${depth}`, { parent })).id
    expect(await refusal(rig.session.spawn('too deep', { parent }))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { which: 'childDepth', bound: 8, got: 9 },
    })
    ;(await asked(rig, 'at 8')).calls(['task_spawn', { input: 'too deep' }])
    expect(told(await asked(rig, 'at 8'))).toMatchObject({ error: { code: 'LIMIT_EXCEEDED', which: 'childDepth' } })
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('as many live in a session as may, and another one when one has ended', async () => {
    const rig = await openJobs()
    const jobs = []
    for (let at = 0; at < 64; at += 1) jobs.push(await rig.session.spawn(`job ${at}`))
    expect(await refusal(rig.session.spawn('one more'))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { which: 'livingChildrenPerSession', bound: 64, got: 65 },
    })
    await rig.session.cancel({ task: jobs[7]?.id ?? '' })
    expect((await rig.session.spawn('one more')).receipt.result).toBe('applied')
    await rig.session.close({ cancel: true })
    expect(new Set(await statesOf(rig))).toEqual(new Set(['cancelled']))
    await rig.time.settle()
    expect((await rig.facts()).at(-1)?.type).toBe('session.closed')
  })

  it('a parent that has ended, is ending, waits to start or is not there begins nothing', async () => {
    const rig = await openJobs()
    const turn = await rig.session.start('the turn')
    const next = await rig.session.followUp('the next')
    ;(await asked(rig, 'the turn')).calls(['pay'])
    await rig.time.settle()
    const refused = (parent: string) => refusal(rig.session.spawn('job', { parent }))
    expect(await refused('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refused(next.id)).toMatchObject({ code: 'TASK_NOT_ACTIVE' })
    await rig.session.cancel()
    expect(await refused(turn.id)).toMatchObject({ code: 'TASK_CANCELLING' })
    ;(await rig.tool('pay').next()).acknowledges()
    await rig.time.settle()
    expect(await refused(turn.id)).toMatchObject({ code: 'TASK_NOT_ACTIVE' })
    await rig.session.cancel()
    await checkAll(rig)
  })
})
