import { describe, expect, it, vi } from 'vitest'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { runtimesOn, scope } from '../inbox/kit/two-runtimes.ts'
import { tempFile } from '../log/temp-store.ts'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { asked, factsOf, openJobs, statesOf } from './kit.ts'

describe('a group of background tasks', () => {
  it('is joined while it is open, and resolves once when it is sealed and its members are at their ends', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    const [a, b] = [await rig.session.spawn('a', { group }), await rig.session.spawn('b', { group: group.id })]
    let outcome: unknown = null
    void group.outcome().then((found) => {
      outcome = found
    })
    ;(await asked(rig, 'a')).text('a done')
    ;(await asked(rig, 'b')).fails('OVERLOADED', false)
    await rig.time.settle()
    expect([outcome, (await rig.session.groups())[0]?.state]).toEqual([null, 'open'])
    expect((await group.seal()).result).toBe('applied')
    await rig.time.settle()
    const results = [
      { task: a.id, status: 'completed', digest: expect.stringMatching(/^hmac/) },
      { task: b.id, status: 'failed', digest: null },
    ]
    const seq = (await factsOf(rig, 'group.resolved'))[0]?.seq
    expect(outcome).toEqual({ status: 'resolved', results, seq })
    expect((await rig.steps()).at(-1)).toBe('group.sealed · group.resolved')
    expect((await factsOf(rig, 'group.resolved')).map(({ data }) => data.results)).toEqual([results])
    await checkAll(rig)
  })

  it('that is sealed or over takes no more members (GROUP_SEALED)', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    const job = await rig.session.spawn('a', { group })
    await group.seal()
    const steps = await rig.stepCount()
    const late = () => refusal(rig.session.spawn('late', { group }))
    expect(await late()).toMatchObject({ code: 'GROUP_SEALED', details: { group: group.id, state: 'sealed' } })
    expect((await group.seal()).result).toBe('joined')
    expect(await rig.stepCount()).toBe(steps)
    ;(await asked(rig, 'a')).text('done')
    expect((await job.outcome()).status).toBe('completed')
    expect(await late()).toMatchObject({ code: 'GROUP_SEALED', details: { state: 'resolved' } })
    expect((await group.cancel()).result).toBe('too_late')
    expect(await refusal(rig.session.spawn('x', { group: 'nosuch' }))).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refusal(rig.session.groupOf('nosuch').seal())).toMatchObject({ code: 'NOT_FOUND' })
    expect(await refusal(rig.session.groupOf('nosuch').outcome())).toMatchObject({ code: 'NOT_FOUND' })
    await checkAll(rig)
  })

  it('gives a late watcher the result that stands, also in another process and after a restart', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    await rig.session.spawn('a', { group })
    await group.seal()
    ;(await asked(rig, 'a')).text('a done')
    const first = await group.outcome()
    await rig.crashAndReopen()
    const late = await rig.session.groupOf(group.id).outcome()
    expect(late).toEqual(first)
    expect(await rig.session.groupOf(group.id).outcome()).toEqual(first)
    expect((await factsOf(rig, 'group.resolved')).length).toBe(1)
    await checkAll(rig)
  })

  it('without members resolves when it is sealed', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    await group.seal()
    expect(await group.outcome()).toMatchObject({ status: 'resolved', results: [] })
    await checkAll(rig)
  })

  it('that fails fast cancels the rest on the first failure, in its step', async () => {
    const rig = await openJobs()
    const group = await rig.session.group({ failFast: true })
    for (const input of ['a', 'b', 'c']) await rig.session.spawn(input, { group })
    await rig.session.spawn('apart')
    ;(await asked(rig, 'a')).text('a done')
    await rig.time.settle()
    await group.seal()
    ;(await asked(rig, 'c')).calls(['look'])
    await rig.time.settle()
    ;(await asked(rig, 'b')).fails('OVERLOADED', false)
    expect(await statesOf(rig)).toEqual(['completed', 'failed', 'quiescing', 'running'])
    expect((await rig.steps()).at(-1)).toBe(
      'model.failed T2 {OVERLOADED} · task.failed T2 {OVERLOADED} · ' +
        'task.cancelling T3 {cancelled} · call.aborting C1 {cancel} · task.quiescing T3 {C1}',
    )
    ;(await rig.tool('look').next()).acknowledges()
    expect((await group.outcome()).results.map(({ status }) => status)).toEqual(['completed', 'failed', 'cancelled'])
    await rig.session.close({ cancel: true })
    await checkAll(rig)
  })

  it('that fails fast while it is open lets the cancelled ones end, and resolves when it is sealed', async () => {
    const rig = await openJobs()
    const group = await rig.session.group({ failFast: true })
    for (const input of ['a', 'b']) await rig.session.spawn(input, { group })
    ;(await asked(rig, 'a')).fails('OVERLOADED', false)
    expect(await statesOf(rig)).toEqual(['failed', 'cancelled'])
    await group.seal()
    expect((await group.outcome()).status).toBe('resolved')
    await checkAll(rig)
  })

  it('that is cancelled cancels what lives of it, once, and has an outcome when the last one is at its end', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    for (const input of ['a', 'b', 'c']) await rig.session.spawn(input, { group })
    ;(await asked(rig, 'a')).text('a done')
    ;(await asked(rig, 'b')).calls(['pay'])
    await rig.time.settle()
    let over = false
    const outcome = group.outcome().finally(() => {
      over = true
    })
    expect((await group.cancel({ commandId: 'stop' })).result).toBe('applied')
    expect(await statesOf(rig)).toEqual(['completed', 'quiescing', 'cancelled'])
    expect([(await group.cancel()).result, (await group.seal()).result, over]).toEqual(['joined', 'too_late', false])
    await rig.crashAndReopen()
    await rig.time.settle()
    expect(await statesOf(rig)).toEqual(['completed', 'cancelled', 'cancelled'])
    const found = await rig.session.groupOf(group.id).outcome()
    expect(found).toMatchObject({ status: 'cancelled' })
    expect(found.results.map(({ status }) => status)).toEqual(['completed', 'cancelled', 'cancelled'])
    expect((await factsOf(rig, 'group.cancelled')).length).toBe(1)
    void outcome.catch(() => {})
    await checkAll(rig)
  })

  it('is made once for one command id, and not in a closed session', async () => {
    const rig = await openJobs()
    const first = await rig.session.group({ commandId: 'g' })
    expect((await rig.session.group({ commandId: 'g' })).id).toBe(first.id)
    await rig.session.close()
    expect(await refusal(rig.session.group())).toMatchObject({ code: 'SESSION_CLOSED' })
    expect(await refusal(first.seal())).toMatchObject({ code: 'SESSION_CLOSED' })
    await checkAll(rig)
  })
})

it('is waited for from another process without reading the session anew at every end', async () => {
  const file = tempFile()
  const log = sqliteLog(file)
  const reads = vi.spyOn(log, 'read')
  const model = scriptedModel({ name: 'm', background: [{ delayMs: 5, text: 'done' }] })
  const owner = (await runtimesOn(() => sqliteLog(file))({ model })).session(scope)
  const group = await owner.group()
  for (let each = 0; each < 20; each += 1) await (await owner.spawn('x')).outcome()
  const other = (await runtimesOn(() => log)({ model })).session(scope)
  const over = other.groupOf(group.id).outcome()
  for (let each = 0; each < 20; each += 1) await (await owner.spawn('x', { group })).outcome()
  await group.seal()
  expect(await over).toMatchObject({ status: 'resolved' })
  expect(reads.mock.calls.length).toBeLessThan(20)
})
