import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/capabilities/define-tool.ts'
import { checkAll, refusal } from '../runtime/kit/check.ts'
import { asked, factsOf, openJobs, statesOf, told, turnWith } from './kit.ts'

describe('a background task', () => {
  it('starts at once beside the turn, sees its input alone, and its messages stay out of the conversation', async () => {
    const rig = await openJobs({ system: 'Be brief.' })
    await rig.session.start('the turn')
    const child = await rig.session.spawn('count the stars')
    expect([child.receipt.result, child.reused]).toEqual(['applied', false])
    const job = await asked(rig, 'count the stars')
    expect(job.request).toMatchObject({ turn: -1, step: 0, system: 'Be brief.' })
    expect(job.request.messages).toEqual([{ role: 'user', content: 'count the stars' }])
    job.calls(['look'])
    ;(await asked(rig, 'the turn')).calls(['look', { id: '2' }])
    await rig.time.settle()
    for (const call of rig.tool('look').calls) call.returns('seen')
    ;(await asked(rig, 'count the stars')).text('many')
    expect(await child.outcome()).toMatchObject({ status: 'completed', message: 'many', steps: 2, calls: { total: 1 } })
    const turn = await asked(rig, 'the turn')
    expect(JSON.stringify(turn.request.messages)).not.toContain('stars')
    turn.text('done')
    expect(await statesOf(rig)).toEqual(['completed', 'completed'])
    await rig.session.start('the next')
    expect(JSON.stringify((await asked(rig, 'the next')).request.messages)).not.toContain('stars')
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('opens a session that was never opened, and runs beside others without a turn', async () => {
    const rig = await openJobs()
    const jobs = await Promise.all(['a', 'b', 'c'].map((input) => rig.session.spawn(input)))
    expect(await statesOf(rig)).toEqual(['running', 'running', 'running'])
    for (const input of ['c', 'a', 'b']) (await asked(rig, input)).text(`${input} done`)
    expect((await Promise.all(jobs.map((job) => job.outcome()))).map(({ message }) => message)).toEqual([
      'a done',
      'b done',
      'c done',
    ])
    expect((await rig.session.tasks()).map(({ kind, origin }) => [kind, origin])).toEqual(
      jobs.map(() => ['background', 'spawn']),
    )
    await checkAll(rig)
  })

  it('may do no more than its parent may, whatever a command grants', async () => {
    const rig = await openJobs()
    const grants = {
      'tool:pay': { level: 'none', confirm: 'none' },
      'tool:look': { level: 'execute', confirm: 'once' },
    } as const
    const turn = await rig.session.start('the turn', { grants })
    await rig.session.reduceGrant(turn.id, 'tool:note', { level: 'discover', confirm: 'none' })
    const wide = {
      'tool:pay': { level: 'execute', confirm: 'none' },
      'tool:look': { level: 'execute', confirm: 'none' },
    } as const
    await rig.session.spawn('below', { parent: turn.id, grants: wide })
    const [, started] = await factsOf(rig, 'task.started')
    expect(started?.data.grants).toEqual({
      'tool:look': { level: 'execute', confirm: 'once' },
      'tool:note': { level: 'discover', confirm: 'none' },
    })
    expect(started?.data.capabilities.map(({ id }) => id)).toEqual(['tool:look', 'tool:note'])
    await rig.session.close({ cancel: true })
    await checkAll(rig)
  })

  it('has its own limits, within those of the session', async () => {
    const rig = await openJobs()
    const child = await rig.session.spawn('a long story', { limits: { stepsPerTurn: 1, turnMs: 60_000 } })
    ;(await asked(rig, 'a long story')).calls(['look'])
    ;(await rig.tool('look').next()).returns('seen')
    expect(await child.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED', steps: 1 })
    const timed = await rig.session.spawn('a slow story', { limits: { turnMs: 60_000 } })
    await rig.time.advance(60_001)
    expect(await timed.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    for (const limits of [{ turnMs: 0 }, { stepsPerTurn: 10_000 }, { nonsense: 1 }])
      expect(await refusal(rig.session.spawn('x', { limits } as never))).toMatchObject({ code: 'INVALID_INPUT' })
    await checkAll(rig)
  })

  it('shares the budget of the session', async () => {
    const rig = await openJobs({ budget: { tokens: 8_000 } })
    const first = await rig.session.spawn('one')
    ;(await asked(rig, 'one')).says({ text: 'much', usage: { input: 4_000, output: 4_000 } })
    expect((await first.outcome()).status).toBe('completed')
    const second = await rig.session.start('two')
    expect(await second.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED' })
    await checkAll(rig)
  })

  it('shares the quarantine of the session', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['job'])
    ;(await asked(rig, 'job')).calls(['pay'])
    await rig.time.settle()
    await rig.session.cancel({ task: id('job') })
    await rig.time.advance(10_001)
    ;(await asked(rig, 'the turn')).calls(['pay', { id: '2' }])
    await rig.time.settle()
    expect(rig.tool('pay').calls.length).toBe(1)
    expect((await rig.session.state()).quarantined.length).toBe(1)
    await rig.session.acknowledge('all')
    await rig.time.settle()
    expect(rig.tool('pay').calls.length).toBe(2)
    await rig.session.close({ cancel: true })
    await rig.time.advance(10_001)
    await checkAll(rig)
  })

  it('is steered, and what is left of that expires at its end; it is paused and resumed by name', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['job'])
    await rig.session.steer('mind the gap', { task: id('job') })
    ;(await asked(rig, 'job')).text('before it was heard')
    expect((await asked(rig, 'job')).lastMessage?.content).toBe('mind the gap')
    await rig.session.pause({ task: id('job') })
    await rig.session.steer('never heard', { task: id('job') })
    await rig.session.cancel({ task: id('job') })
    expect((await rig.steps()).at(-1)).toContain('task.cancelled T2 · steering.expired T2 {S2}')
    ;(await asked(rig, 'the turn')).text('done')
    await rig.time.settle()
    await rig.session.start('next')
    expect((await asked(rig, 'next')).request.messages.map(({ content }) => content)).not.toContain('never heard')
    await rig.session.cancel()
    await checkAll(rig)
  })

  it('keeps a session busy; a close that cancels ends it, and an erase too', async () => {
    for (const end of ['close', 'erase'] as const) {
      const rig = await openJobs()
      const job = await rig.session.spawn('job')
      expect(await refusal(rig.session[end]())).toMatchObject({ code: 'SESSION_BUSY', details: { tasks: [job.id] } })
      await rig.session[end]({ cancel: true })
      expect(await statesOf(rig)).toEqual(['cancelled'])
      expect(await refusal(rig.session.spawn('one more'))).toMatchObject({
        code: end === 'close' ? 'SESSION_CLOSED' : 'SESSION_ERASED',
      })
      await checkAll(rig)
    }
  })

  it('is carried on by the next owner, beside the turn; with recovery fail both end as failed', async () => {
    for (const recovery of ['resume', 'fail'] as const) {
      const rig = await openJobs({ recovery })
      const { id } = await turnWith(rig, ['job'], ['below', 'job'], ['alone'])
      ;(await asked(rig, 'job')).calls(['note'], ['look'])
      ;(await asked(rig, 'alone')).calls(['task_await', {}])
      await rig.time.settle()
      await rig.crashAndReopen()
      await rig.time.settle()
      if (recovery === 'fail') {
        expect(await statesOf(rig)).toEqual(['failed', 'failed', 'failed', 'failed'])
        const codes = (await factsOf(rig, 'task.failed')).map(({ data }) => data.code)
        expect(codes).toEqual(codes.map(() => 'RUNTIME_RESTARTED'))
      } else {
        expect((await factsOf(rig, 'run.resumed')).map(({ task }) => task)).toContain(id('below'))
        rig.tool('note').calls.at(-1)?.returns('noted')
        rig.tool('look').calls.at(-1)?.returns('seen')
        for (const input of ['job', 'below', 'alone', 'the turn']) (await asked(rig, input)).text(`${input} done`)
        expect(await statesOf(rig)).toEqual(['completed', 'completed', 'completed', 'completed'])
      }
      await checkAll(rig)
    }
  })
})

describe('task_spawn', () => {
  it('makes a child of the caller under its call id, and tells its id', async () => {
    const rig = await openJobs()
    const turn = await rig.session.start('the turn')
    ;(await asked(rig, 'the turn')).calls(['task_spawn', { input: 'job', propagate: 'isolate' }])
    const after = await asked(rig, 'the turn')
    const [child] = (await rig.session.tasks()).filter(({ kind }) => kind === 'background')
    expect(told(after)).toEqual({ task: child?.id })
    const [, created] = await factsOf(rig, 'task.created')
    const [call] = (await rig.session.messages()).flatMap(({ toolCalls }) => toolCalls ?? [])
    expect(created?.data).toMatchObject({ parent: turn.id, propagate: 'isolate', idempotencyKey: call?.id })
    expect(created?.by).toEqual({ kind: 'planner', id: turn.id })
    ;(await asked(rig, 'job')).text('done')
    await rig.session.cancel()
    expect(await statesOf(rig)).toEqual(['cancelled', 'completed'])
    await checkAll(rig)
  })

  it('is offered together with task_await, and wants an input', async () => {
    const rig = await openJobs()
    await rig.session.start('the turn')
    const first = await asked(rig, 'the turn')
    const names = first.request.tools.map(({ name }) => name)
    expect([names.includes('task_spawn'), names.includes('task_await')]).toEqual([true, true])
    first.calls(['task_spawn', {}], ['task_spawn', { input: 'x', group: 'nosuch' }])
    const { request } = await asked(rig, 'the turn')
    expect(request.messages.at(-2)?.content).toContain('INVALID_ARGUMENTS')
    expect(request.messages.at(-1)?.content).toContain('NOT_FOUND')
    await rig.session.cancel()
    await checkAll(rig)
  })
})

it('a tool of a background task is told the id of that task', async () => {
  const seen: string[] = []
  const tell = defineTool({
    name: 'tell',
    description: 'Tells whose call it is.',
    input: z.strictObject({}),
    effect: 'read',
    run: (_, { taskId }) => {
      seen.push(taskId)
      return taskId
    },
  })
  const rig = await openJobs()
  await rig.crashAndReopen({ catalog: [tell] })
  const job = await rig.session.spawn('job')
  ;(await asked(rig, 'job')).calls(['tell'])
  ;(await asked(rig, 'job')).text('done')
  expect((await job.outcome()).status).toBe('completed')
  expect(seen).toEqual([job.id])
})
