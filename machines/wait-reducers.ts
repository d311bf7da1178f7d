import type { FactOf } from './facts.ts'
import type { World } from './world.ts'

/** A question of the planner is an own pause of its task; it belongs to the call whose result is the next to be written. */
export function reduceQuestion(world: World, fact: FactOf<'pause.requested'> | FactOf<'pause.settled'>): void {
  const task = fact.task ?? ''
  if (fact.type === 'pause.settled') {
    const wait = world.waits.get(task)
    if (wait?.kind === 'question' && wait.token === fact.data.token)
      world.waits.set(task, { ...wait, decision: fact.data.decision })
    return
  }
  const call = world.unanswered.get(task)?.[0]
  if (fact.data.reason !== 'input' || fact.call !== null || call === undefined) return
  const digest = world.tasks.get(task)?.context.calls[call]?.key.split('\u0000')[1] ?? ''
  const asked = { digest, step: fact.step }
  world.waits.set(task, { kind: 'question', call, token: fact.data.token, asked, decision: null })
}

/** What a task was told of while it waited needs no other telling. */
export function reduceAwait(world: World, fact: FactOf<'task.awaiting'> | FactOf<'task.await_settled'>): void {
  const task = fact.task ?? ''
  if (fact.type === 'task.awaiting') {
    const call = fact.data.forCall
    if (call !== undefined) world.waits.set(task, { kind: 'join', call, settled: null })
    return
  }
  const wait = world.waits.get(task)
  if (wait?.kind === 'join') world.waits.set(task, { ...wait, settled: fact.data })
  for (const { task: awaited, status } of fact.data.results) if (status !== null) world.unoffered.delete(awaited)
}
