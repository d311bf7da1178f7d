import type { AgendaItem, Ask } from '../../machines/agenda.ts'
import { awaitedTasks, isAwaitOver } from '../../machines/decide-background.ts'
import type { GroupId } from '../../machines/vocabulary.ts'
import { resultOf } from './background-results.ts'
import type { Step } from './step.ts'

/** The end of an await, with how each of the tasks stands. `done` is not said while one of them lives. */
export function settleAwait(step: Step, { task, how }: Extract<Ask, { ask: 'settleAwait' }>): readonly AgendaItem[] {
  const awaiting = step.world.tasks.get(task)?.context.awaiting ?? null
  if (awaiting === null || (how === 'done' && !isAwaitOver(step.world, awaiting))) return []
  const results = awaitedTasks(step.world, awaiting).map((awaited) => resultOf(step.world, awaited))
  return [{ type: 'task.await_settled', task, data: { how, results } }]
}

export function followAwaits(step: Step): readonly AgendaItem[] {
  const items: AgendaItem[] = []
  for (const [task, { context }] of step.world.tasks)
    if (context.awaiting !== null && isAwaitOver(step.world, context.awaiting))
      items.push({ ask: 'settleAwait', task, how: 'done' })
  return items
}

export function resolveGroup(step: Step, group: GroupId): readonly AgendaItem[] {
  const snapshot = step.world.groups.get(group)
  if (snapshot === undefined || !snapshot.matches('sealed')) return []
  const { living, members } = snapshot.context
  if (Object.keys(living).length > 0) return []
  const results = members.map((member) => resultOf(step.world, member))
  return [{ type: 'group.resolved', data: { group, results } }]
}

/** Every member that lives, in the order in which they joined; each with what is below it. */
export function cancelMembers(step: Step, group: GroupId): readonly AgendaItem[] {
  const snapshot = step.world.groups.get(group)
  if (snapshot === undefined) return []
  const { living, members } = snapshot.context
  const reason = snapshot.matches('cancelled') ? 'group cancelled' : 'a member of the group failed'
  return members
    .filter((member) => member in living && !step.failing.has(member))
    .map((task) => ({ ask: 'cancelTask', task, status: 'cancelled', reason }))
}
