import { describe, expect, it } from 'vitest'
import { checkLog } from '../../src/testing/check-log.ts'
import { checkAll } from '../runtime/kit/check.ts'
import type { Rig } from '../runtime/kit/rig.ts'
import { asked, factsOf, openJobs, statesOf, turnWith } from './kit.ts'

/** Ids of the tasks that were told to end in the newest step, in this order. */
async function cancelledNow(rig: Rig): Promise<readonly string[]> {
  const facts = await factsOf(rig, 'task.cancelling')
  return facts.filter(({ step }) => step === facts.at(-1)?.step).map(({ task }) => task ?? '')
}

describe('a cancel walks over the tree below (INV-19)', () => {
  it('of 50 descendants, isolated and ended ones among them: exactly the right set, breadth first, in one step', {
    timeout: 60_000,
  }, async () => {
    const rig = await openJobs()
    const { id: root } = await rig.session.start('the turn')
    const parents = new Map<string, string>()
    const isolated = new Set<string>()
    const order: string[] = []
    const spawn = async (parent: string, propagate: 'cascade' | 'isolate' = 'cascade') => {
      const { id } = await rig.session.spawn(`job ${order.length}`, { parent, propagate })
      order.push(id)
      parents.set(id, parent)
      if (propagate === 'isolate') isolated.add(id)
      return id
    }
    const tops: string[] = []
    for (let at = 0; at < 5; at += 1) tops.push(await spawn(root, at === 4 ? 'isolate' : 'cascade'))
    const middles: string[] = []
    for (let at = 0; at < 15; at += 1)
      middles.push(await spawn(tops[at % 5] ?? '', at % 5 === 3 ? 'isolate' : 'cascade'))
    for (let at = 0; at < 30; at += 1) await spawn(middles[at % 15] ?? '', at === 29 ? 'isolate' : 'cascade')
    const sibling = (await rig.session.spawn('apart')).id
    expect(order.length).toBe(50)
    const ended = [tops[0] ?? '', middles[1] ?? '', middles[7] ?? '', order.at(-2) ?? '']
    for (const task of ended) (await asked(rig, `job ${order.indexOf(task)}`)).text('done early')
    await rig.time.settle()
    const reached = (task: string): boolean => {
      if (isolated.has(task)) return false
      const parent = parents.get(task)
      return parent === root || (parent !== undefined && reached(parent))
    }
    const depth = (task: string): number => (task === root ? 0 : 1 + depth(parents.get(task) ?? root))
    const expected = order.filter((task) => reached(task) && !ended.includes(task))
    const steps = await rig.stepCount()
    await rig.session.cancel()
    expect(await rig.stepCount()).toBe(steps + 1)
    const breadthFirst = [...expected].sort((a, b) => depth(a) - depth(b))
    expect(await cancelledNow(rig)).toEqual([root, ...breadthFirst])
    expect(expected.length).toBeGreaterThan(20)
    const tasks = new Map((await rig.session.tasks()).map(({ id, state, status }) => [id, status ?? state]))
    for (const task of order) {
      const state = ended.includes(task) ? 'completed' : expected.includes(task) ? 'cancelled' : 'running'
      expect([task, tasks.get(task)]).toEqual([task, state])
    }
    expect(tasks.get(sibling)).toBe('running')
    await rig.session.close({ cancel: true })
    const facts = await rig.facts()
    expect(checkLog(facts).violations).toEqual([])
    expect(await rig.session.state()).toEqual(await rig.session.state({ at: facts.length }))
  })

  it('and ends when the last of the tree does; what runs below is told to stop with its own grace', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['a'], ['below', 'a'])
    ;(await asked(rig, 'below')).calls(['pay'])
    await rig.time.settle()
    await rig.session.cancel()
    expect(await statesOf(rig)).toEqual(['quiescing', 'quiescing', 'quiescing'])
    const cascaded = (await factsOf(rig, 'task.cancelling')).map(({ task, data }) => [task, data.cascadedFrom])
    expect(cascaded.slice(1).map(([task]) => task)).toEqual([id('a'), id('below')])
    expect(new Set(cascaded.slice(1).map(([, from]) => from))).toEqual(new Set([cascaded[0]?.[0]]))
    await rig.crashAndReopen({ limits: { graceMs: 10_000 } })
    await rig.time.advance(10_001)
    expect(await statesOf(rig)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect((await rig.steps()).at(-1)).toMatch(/task.cancelled T3 · task.cancelled T2 · task.cancelled T1$/)
    await checkAll(rig)
  })

  it('is the walk of a failure and of a supersede too; a completion leaves everything at work', async () => {
    for (const end of ['fail', 'supersede', 'complete'] as const) {
      const rig = await openJobs()
      const { id } = await turnWith(rig, ['a'], ['below', 'a'])
      await rig.session.spawn('alone', { parent: id('a'), propagate: 'isolate' })
      if (end === 'fail') (await asked(rig, 'the turn')).fails('OVERLOADED', false)
      else if (end === 'complete') (await asked(rig, 'the turn')).text('done')
      else await rig.session.supersede('a better turn')
      const first = { fail: 'failed', supersede: 'superseded', complete: 'completed' }[end]
      const below = end === 'complete' ? 'running' : 'cancelled'
      expect((await statesOf(rig)).slice(0, 4)).toEqual([first, below, below, 'running'])
      await rig.session.close({ cancel: true })
      await checkAll(rig)
    }
  })

  it('of one child leaves its siblings and what is above', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['a'], ['b'], ['below a', 'a'], ['below b', 'b'])
    expect((await rig.session.cancel({ task: id('a') })).result).toBe('applied')
    expect(await statesOf(rig)).toEqual(['running', 'cancelled', 'running', 'cancelled', 'running'])
    expect((await rig.session.cancel({ task: id('a') })).result).toBe('too_late')
    await rig.session.cancel()
    expect(await statesOf(rig)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled'])
    await checkAll(rig)
  })

  it('passes through a chain of ended tasks, and leaves a tree whose link is isolated', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['a'], ['b', 'a'], ['c', 'b'])
    const alone = await rig.session.spawn('alone', { parent: id('b'), propagate: 'isolate' })
    await rig.session.spawn('below alone', { parent: alone.id })
    for (const input of ['b', 'a']) (await asked(rig, input)).text('done')
    await rig.time.settle()
    await rig.session.cancel()
    expect(await statesOf(rig)).toEqual(['cancelled', 'completed', 'completed', 'cancelled', 'running', 'running'])
    await rig.session.cancel({ task: alone.id })
    expect((await statesOf(rig)).slice(4)).toEqual(['cancelled', 'cancelled'])
    await checkAll(rig)
  })

  it('of a child that is already ending does not begin it anew', async () => {
    const rig = await openJobs()
    const { id } = await turnWith(rig, ['a'])
    ;(await asked(rig, 'a')).calls(['pay'])
    await rig.time.settle()
    await rig.session.cancel({ task: id('a'), reason: 'first' })
    await rig.session.cancel()
    const facts = await factsOf(rig, 'task.cancelling')
    expect(facts.map(({ data }) => data.reason)).toEqual(['first', 'cancelled by the operator'])
    ;(await rig.tool('pay').next()).acknowledges()
    expect(await statesOf(rig)).toEqual(['cancelled', 'cancelled'])
    await checkAll(rig)
  })
})
