import { describe, expect, it } from 'vitest'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { asked, factsOf, openJobs, statesOf, told, turnWith } from './kit.ts'

describe('task_await', () => {
  it('waits for what the caller has spawned, and tells how each ended and what it said', async () => {
    const rig = await openJobs()
    const { turn, id } = await turnWith(rig, ['a'], ['b'], ['below', 'a'])
    ;(await asked(rig, 'the turn')).calls(['task_await', {}])
    ;(await asked(rig, 'a')).text('a said this')
    await rig.time.settle()
    expect(await factsOf(rig, 'task.await_settled')).toEqual([])
    ;(await asked(rig, 'b')).fails('OVERLOADED', false)
    expect(told(await asked(rig, 'the turn'))).toEqual({
      how: 'done',
      results: [
        { task: id('a'), status: 'completed', result: 'a said this' },
        { task: id('b'), status: 'failed' },
      ],
    })
    const [awaiting] = await factsOf(rig, 'task.awaiting')
    expect([awaiting?.task, awaiting?.data.tasks]).toEqual([turn.id, [id('a'), id('b')]])
    expect((await rig.steps()).at(-1)).toMatch(
      /^model.failed T3 {OVERLOADED} · task.failed T3 {OVERLOADED} · task.await_settled T1 · message.added T1 {tool \w+} · context/,
    )
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('of a caller that has spawned nothing is over before it begins', async () => {
    const rig = await openJobs()
    await rig.session.start('the turn')
    ;(await asked(rig, 'the turn')).calls(['task_await', {}])
    expect(told(await asked(rig, 'the turn'))).toEqual({ how: 'done', results: [] })
    expect(await factsOf(rig, 'task.awaiting')).toEqual([])
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('begins when the other calls of its batch have settled, and is over at once when all has ended', async () => {
    const rig = await openJobs()
    await rig.session.start('the turn')
    ;(await asked(rig, 'the turn')).calls(['task_spawn', { input: 'a' }], ['look'], ['task_await', {}])
    await rig.time.settle()
    expect((await factsOf(rig, 'task.created')).length).toBe(1)
    ;(await rig.tool('look').next()).returns('seen')
    await rig.time.settle()
    expect((await factsOf(rig, 'task.awaiting')).length).toBe(1)
    ;(await asked(rig, 'a')).text('done')
    ;(await asked(rig, 'the turn')).calls(['task_await', {}])
    expect(told(await asked(rig, 'the turn'))).toMatchObject({ how: 'done', results: [{ status: 'completed' }] })
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('takes descendants at any depth, isolated ones too, and nothing else (INVALID_INPUT)', async () => {
    const rig = await openJobs()
    const { turn, id } = await turnWith(rig, ['a'], ['below', 'a'])
    const isolated = await rig.session.spawn('alone', { parent: id('below'), propagate: 'isolate' })
    const stranger = await rig.session.spawn('stranger')
    const wrong: readonly object[] = [
      { tasks: [stranger.id] },
      { tasks: [id('a'), turn.id] },
      { tasks: ['nosuch'] },
      { group: 'nosuch' },
      { tasks: [id('a')], group: 'g' },
    ]
    ;(await asked(rig, 'the turn')).calls(...wrong.map((args) => ['task_await', args] as const))
    const { request } = await asked(rig, 'the turn')
    for (const { content } of request.messages.slice(-wrong.length)) expect(content).toContain('INVALID_INPUT')
    ;(await asked(rig, 'the turn')).calls(['task_await', { tasks: [isolated.id, id('below')] }])
    ;(await asked(rig, 'alone')).text('one')
    ;(await asked(rig, 'below')).text('two')
    expect(told(await asked(rig, 'the turn'))).toMatchObject({ results: [{ result: 'one' }, { result: 'two' }] })
    await rig.session.close({ cancel: true })
    await checkAll(rig)
  })

  it('takes a group that the caller is no member of', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    const member = await rig.session.spawn('member', { group })
    ;(await asked(rig, 'member')).calls(['task_await', { group: group.id }])
    expect(told(await asked(rig, 'member'))).toMatchObject({ error: { code: 'INVALID_INPUT' } })
    await rig.session.start('the turn')
    ;(await asked(rig, 'the turn')).calls(['task_await', { group: group.id }])
    ;(await asked(rig, 'member')).text('done')
    await rig.time.settle()
    expect(await factsOf(rig, 'task.await_settled')).toEqual([])
    await group.seal()
    expect(told(await asked(rig, 'the turn'))).toMatchObject({
      how: 'done',
      results: [{ task: member.id, result: 'done' }],
    })
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('of a group that was over long ago gives references to what was said', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    const member = await rig.session.spawn('member', { group })
    ;(await asked(rig, 'member')).text('said long ago')
    await group.seal()
    await rig.session.start('the turn')
    ;(await asked(rig, 'the turn')).calls(['task_await', { group: group.id }])
    const { results } = told(await asked(rig, 'the turn')) as { results: { observation: string }[] }
    expect(results).toEqual([{ task: member.id, status: 'completed', bytes: 13, observation: expect.any(String) }])
    const { observation } = results[0] ?? { observation: '' }
    ;(await asked(rig, 'the turn')).calls(['observation_read', { observation }])
    expect(told(await asked(rig, 'the turn'))).toMatchObject({ text: 'said long ago' })
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('of a group that is cancelled is over with it', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    await rig.session.spawn('quick', { group })
    await rig.session.spawn('slow', { group })
    ;(await asked(rig, 'slow')).calls(['pay'])
    await rig.session.start('the turn')
    ;(await asked(rig, 'the turn')).calls(['task_await', { group: group.id }])
    await rig.time.settle()
    await group.cancel()
    expect(told(await asked(rig, 'the turn'))).toMatchObject({
      how: 'done',
      results: [{ status: 'cancelled' }, { status: 'running' }],
    })
    ;(await rig.tool('pay').next()).acknowledges()
    expect((await group.outcome()).results.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('of a group survives a restart and a deadline, which is stored', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    const member = await rig.session.spawn('member', { group })
    await rig.session.start('the turn')
    ;(await asked(rig, 'the turn')).calls(['task_await', { group: group.id, waitMs: 3_600_000 }])
    await rig.time.settle()
    const [awaiting] = await factsOf(rig, 'task.awaiting')
    expect(awaiting?.data.deadline).toBe(new Date(rig.time.now() + 3_600_000).toISOString())
    await rig.crashAndReopen()
    await rig.time.advance(3_599_000)
    expect(await factsOf(rig, 'task.await_settled')).toEqual([])
    await rig.crashAndReopen()
    await rig.time.advance(1_001)
    const [settled] = await factsOf(rig, 'task.await_settled')
    expect(settled?.data).toEqual({ how: 'deadline', results: [{ task: member.id, status: null, digest: null }] })
    const request = await asked(rig, 'the turn')
    expect(told(request)).toEqual({ how: 'deadline', results: [{ task: member.id, status: 'running' }] })
    request.calls(['task_await', { group: group.id }])
    await rig.crashAndReopen()
    ;(await asked(rig, 'member')).text('after all')
    await rig.session.groupOf(group.id).seal()
    expect(told(await asked(rig, 'the turn'))).toMatchObject({ how: 'done', results: [{ result: 'after all' }] })
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('is settled as interrupted by an interrupting steer, and not by any other', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['a'], ['b'])
    ;(await asked(rig, 'a')).text('a said')
    await rig.time.settle()
    ;(await asked(rig, 'the turn')).calls(['task_await', {}], ['task_await', {}])
    await rig.session.steer('wait on')
    await rig.time.settle()
    expect(await factsOf(rig, 'task.await_settled')).toEqual([])
    await rig.session.steer('stop waiting', { mode: 'interrupt' })
    const { request } = await asked(rig, 'the turn')
    const contents = request.messages.slice(-4).map(({ content }) => content)
    expect(JSON.parse(contents[0] ?? '')).toEqual({
      how: 'interrupted',
      results: [
        { task: id('a'), status: 'completed', result: 'a said' },
        { task: id('b'), status: 'running' },
      ],
    })
    expect(contents.slice(1)).toEqual([
      'Not done: new input from the operator came first. It had no effect.',
      'wait on',
      'stop waiting',
    ])
    expect(await statesOf(rig)).toEqual(['running', 'completed', 'running'])
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('is settled as cancelled by a cancel, which its end waits for no longer', async () => {
    const rig = await openJobs()
    await turnWith(rig, ['a'])
    ;(await asked(rig, 'the turn')).calls(['task_await', {}])
    await rig.time.settle()
    await rig.session.cancel()
    const [settled] = await factsOf(rig, 'task.await_settled')
    expect(settled?.data.how).toBe('cancelled')
    expect(await statesOf(rig)).toEqual(['cancelled', 'cancelled'])
    await checkAll(rig)
  })

  it('keeps its state over a pause, and what ended meanwhile is told after it', async () => {
    const rig = await openJobs()
    await turnWith(rig, ['a'])
    ;(await asked(rig, 'the turn')).calls(['task_await', {}])
    await rig.session.pause()
    await rig.crashAndReopen()
    const [pause] = await rig.session.pauses()
    expect((await statesOf(rig))[0]).toBe('paused')
    await rig.session.resume(pause?.token ?? '', { decision: 'resume' })
    expect(await factsOf(rig, 'task.await_settled')).toEqual([])
    await rig.session.pause()
    ;(await asked(rig, 'a')).text('meanwhile')
    await rig.time.settle()
    expect((await factsOf(rig, 'task.await_settled')).length).toBe(1)
    const [again] = await rig.session.pauses()
    await rig.session.resume(again?.token ?? '', { decision: 'resume' })
    expect(told(await asked(rig, 'the turn'))).toMatchObject({ how: 'done', results: [{ result: 'meanwhile' }] })
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('gives a large result as its beginning and a reference, which can be read over restarts', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['a'])
    const large = `begin ${'lorem ipsum '.repeat(2_000)} end`
    ;(await asked(rig, 'a')).text(large)
    await rig.time.settle()
    await rig.crashAndReopen()
    await rig.time.settle()
    ;(await asked(rig, 'the turn')).calls(['task_await', {}])
    const request = await asked(rig, 'the turn')
    const { results } = told(request) as { results: { observation: string; bytes: number; result: string }[] }
    const [first] = results
    expect(first).toMatchObject({ task: id('a'), bytes: large.length })
    expect(first?.result.length).toBeLessThan(600)
    request.calls(['observation_read', { observation: first?.observation, offset: large.length - 30, length: 30 }])
    expect(told(await asked(rig, 'the turn'))).toMatchObject({ text: large.slice(-30), size: large.length })
    await rig.session.cancel()
    await checkAll(rig)
  })
})

it('a run that goes on because another was recovered is resumed in the same step', async () => {
  const rig = await openJobs({ limits: { modelAttempts: 1 } })
  const { turn, id } = await turnWith(rig, ['a'])
  ;(await asked(rig, 'the turn')).calls(['task_await', {}])
  await rig.crashAndReopen()
  expect(told(await asked(rig, 'the turn'))).toMatchObject({
    how: 'done',
    results: [{ task: id('a'), status: 'failed' }],
  })
  const resumed = await factsOf(rig, 'run.resumed')
  expect(resumed.map(({ task, step }) => [task, step])).toEqual([
    [turn.id, resumed[0]?.step],
    [id('a'), resumed[0]?.step],
  ])
  await rig.session.cancel()
  await checkAll(rig)
})

describe('session.await', () => {
  it('gives the outcomes of tasks, or of a group, when there are all', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    const jobs = [await rig.session.spawn('a', { group }), await rig.session.spawn('b', { group })]
    const tasks = rig.session.await([jobs[1]?.id ?? '', jobs[0] as (typeof jobs)[0]])
    const all = rig.session.await(group)
    ;(await asked(rig, 'a')).text('one')
    ;(await asked(rig, 'b')).text('two')
    expect((await tasks).results.map(({ status, outcome }) => [status, outcome?.message])).toEqual([
      ['completed', 'two'],
      ['completed', 'one'],
    ])
    await group.seal()
    expect(await all).toMatchObject({ how: 'done', results: [{ outcome: { message: 'one' } }, { task: jobs[1]?.id }] })
    await checkAll(rig)
  })

  it('gives what there is at its deadline, and the tasks go on', async () => {
    const rig = await openJobs()
    const group = await rig.session.group()
    const jobs = [await rig.session.spawn('a', { group }), await rig.session.spawn('b', { group })]
    const deadline = new Date(rig.time.now() + 60_000).toISOString()
    const waits = [rig.session.await(jobs, { deadline }), rig.session.await(group, { deadline })]
    ;(await asked(rig, 'a')).text('one')
    await rig.time.advance(60_001)
    for (const { how, results } of await Promise.all(waits))
      expect([how, results.map(({ status }) => status)]).toEqual(['deadline', ['completed', null]])
    expect(await statesOf(rig)).toEqual(['completed', 'running'])
    expect(await refusal(rig.session.await(jobs, { deadline: 'soon' }))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await refusal(rig.session.await(['nosuch']))).toMatchObject({ code: 'NOT_FOUND' })
    await rig.session.close({ cancel: true })
    await checkAll(rig)
  })
})
