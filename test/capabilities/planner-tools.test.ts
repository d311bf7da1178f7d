import { describe, expect, it } from 'vitest'
import { plannerDefinitions } from '../../src/capabilities/planner-tools.ts'
import { factsOf, lastResult, quickTool, rigWith, verifyAll } from './kit.ts'

describe('planner tools', () => {
  it('are offered in every request, before the tools of the host', async () => {
    const rig = await rigWith([quickTool('look')])
    await rig.session.start('what is there?')
    const first = await rig.model.next()
    const names = first.request.tools.map(({ name }) => name)
    expect(names).toEqual([...plannerDefinitions.map(({ name }) => name), 'look'])
    first.text('this')
    await rig.time.settle()
    await verifyAll(rig)
  })

  it('have their result in the step of the answer, and no facts of calls', async () => {
    const rig = await rigWith([quickTool('look')])
    const handle = await rig.session.start('what is there?')
    ;(await rig.model.next()).calls(['capabilities_list'], ['capabilities_inspect', { id: 'look' }])
    ;(await rig.model.next()).text('one tool')
    expect(await handle.outcome()).toMatchObject({ status: 'completed', calls: { total: 2, failed: 0 } })
    expect((await rig.steps()).slice(1)).toEqual(
      [
        'model.completed T1 · message.added T1 {assistant} · ' +
          'message.added T1 {tool ID} · message.added T1 {tool ID} · context.accounted T1 · model.requested T1',
        'model.completed T1 · message.added T1 {assistant} · task.completed T1',
      ].map((line) =>
        expect.stringMatching(new RegExp(`^${line.replaceAll(/[{}.]/g, '\\$&').replaceAll('ID', '\\w+')}$`)),
      ),
    )
    await verifyAll(rig)
  })

  it('have their results in call order among the others of the batch', async () => {
    const rig = await rigWith([quickTool('look')])
    await rig.session.start('what is there?')
    ;(await rig.model.next()).calls(['capabilities_list'], ['look'], ['no.such'], ['capabilities_list', { limit: 1 }])
    const { request } = await rig.model.next()
    const asked = request.messages.at(-5)?.toolCalls?.map(({ id }) => id)
    expect(request.messages.slice(-4).map(({ toolCallId }) => toolCallId)).toEqual(asked)
    expect(request.messages.at(-3)?.content).toBe('look done')
    expect(request.messages.at(-2)?.content).toContain('CAPABILITY_NOT_LOADED')
    await verifyAll(rig)
  })

  it('wait for the end of a pause of the task, also over a restart', async () => {
    const catalog = [quickTool('look', { load: 'demand' })]
    const rig = await rigWith(catalog)
    const handle = await rig.session.start('load it')
    const first = await rig.model.next()
    await rig.session.pause()
    first.calls(['tools_load', { names: ['look'] }])
    await rig.time.settle()
    expect(await factsOf(rig, 'capability.loaded')).toEqual([])
    await rig.crashAndReopen({ catalog })
    const [pause] = await rig.session.pauses()
    await rig.session.resume(pause?.token ?? '', { decision: 'resume' })
    const second = await rig.model.next()
    expect((await factsOf(rig, 'capability.loaded')).length).toBe(1)
    second.calls(['look'])
    ;(await rig.model.next()).text('done')
    expect((await rig.session.task(handle.id).outcome()).status).toBe('completed')
    await verifyAll(rig)
  })

  it('do nothing any more when the turn is cancelled', async () => {
    const rig = await rigWith([quickTool('look', { load: 'demand' })], { limits: { graceMs: 0 } })
    await rig.session.start('load it')
    const first = await rig.model.next()
    await rig.session.pause()
    first.calls(['tools_load', { names: ['look'] }])
    await rig.time.settle()
    await rig.session.cancel()
    await rig.time.settle()
    expect(await factsOf(rig, 'capability.loaded')).toEqual([])
    expect((await factsOf(rig, 'message.added')).at(-1)?.data).toMatchObject({ role: 'tool', synthetic: true })
    await verifyAll(rig)
  })

  it('say what is wrong with their arguments, and what is not offered', async () => {
    const rig = await rigWith([])
    await rig.session.start('go')
    ;(await rig.model.next()).calls(['capabilities_search', { words: 1 }])
    await rig.time.settle()
    expect(await lastResult(rig)).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } })
    ;(await rig.model.next()).calls(['memory_unheard_of'])
    await rig.time.settle()
    expect(await lastResult(rig)).toMatchObject({ error: { code: 'NOT_SUPPORTED' } })
    await verifyAll(rig)
  })

  it('count against the calls of a turn', async () => {
    const rig = await rigWith([], { limits: { callsPerTurn: 2 } })
    const handle = await rig.session.start('go')
    ;(await rig.model.next()).calls(['capabilities_list'], ['capabilities_list'], ['capabilities_list'])
    expect(await handle.outcome()).toMatchObject({ status: 'failed', code: 'BUDGET_EXCEEDED', calls: { total: 3 } })
    await verifyAll(rig)
  })
})

describe('episodes', () => {
  it('an exploration ends with a conclusion, an action rests on one that did, one is open at a time', async () => {
    const rig = await rigWith([])
    await rig.session.start('explore')
    const say = async (name: string, args: object): Promise<Record<string, unknown>> => {
      ;(await rig.model.next()).calls([name, args])
      await rig.time.settle()
      return (await lastResult(rig)) as Record<string, unknown>
    }
    expect(await say('episode_end', {})).toMatchObject({ error: { code: 'EPISODE_NOT_OPEN' } })
    expect(await say('episode_start', { kind: 'action', goal: 'act' })).toMatchObject({
      error: { code: 'INVALID_ARGUMENTS' },
    })
    const { episode } = await say('episode_start', { kind: 'exploration', goal: 'learn' })
    expect(await say('episode_start', { kind: 'exploration', goal: 'more' })).toMatchObject({
      error: { code: 'EPISODE_OPEN' },
    })
    expect(await say('episode_end', {})).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } })
    expect(await say('episode_end', { conclusion: 'it is blue' })).toEqual({ ended: episode })
    const act = await say('episode_start', { kind: 'action', goal: 'paint', basedOn: [episode] })
    expect(await say('episode_end', {})).toEqual({ ended: act.episode })
    expect((await factsOf(rig, 'episode.started')).map(({ data }) => data.kind)).toEqual(['exploration', 'action'])
    expect((await factsOf(rig, 'episode.ended')).map(({ data }) => 'conclusion' in data)).toEqual([true, false])
    await verifyAll(rig)
  })
})
