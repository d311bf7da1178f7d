import type { OperatorCommand } from './commands.ts'
import { keptFor } from './decide-background.ts'
import { notFound, type Refusal, refusal } from './refusal.ts'
import { type SpawnProblem, spawnProblem } from './spawning.ts'
import type { GroupId, TaskId } from './vocabulary.ts'
import type { World } from './world.ts'

type Wanted = Pick<Extract<OperatorCommand, { name: 'spawn' }>, 'parent' | 'group' | 'idempotencyKey' | 'request'>

/** Why no background task begins; null when one may. Also asked before the planner's own spawn, which must not be refused halfway. */
export function refusedSpawn(world: World, wanted: Wanted): Refusal | null {
  const kept = keptFor(world, wanted)
  if (kept !== null && !kept.same)
    return refusal('IDEMPOTENCY_CONFLICT', 'This idempotency key stands for another request. Use a new key.', {
      task: kept.task,
    })
  const session = world.session?.context
  if (session === undefined && wanted.parent !== undefined) return notFound('task', wanted.parent)
  const problem = session === undefined ? null : spawnProblem(session, wanted.parent ?? null)
  return (problem === null ? null : named(world, problem, wanted.parent ?? '')) ?? refusedByGroup(world, wanted.group)
}

function named(world: World, problem: SpawnProblem, parent: TaskId): Refusal {
  if (problem.which !== 'parent') {
    const { which, bound, got } = problem
    const message =
      which === 'childDepth'
        ? `Background tasks may be nested ${bound} deep. Let an ancestor spawn it.`
        : `As many background tasks live in this session as may (${bound}). Wait for one, or cancel one.`
    return refusal('LIMIT_EXCEEDED', message, { which, bound, got })
  }
  if (!world.taskRecords.has(parent)) return notFound('task', parent)
  const code = world.session?.context.tasks[parent]?.phase === 'cancelling' ? 'TASK_CANCELLING' : 'TASK_NOT_ACTIVE'
  return refusal(code, 'The parent is not at work, and begins nothing. Spawn without it, or under another one.', {
    task: parent,
  })
}

function refusedByGroup(world: World, group: GroupId | undefined): Refusal | null {
  if (group === undefined) return null
  const snapshot = world.groups.get(group)
  if (snapshot === undefined) return notFound('group', group)
  if (snapshot.matches('open')) return null
  return refusal('GROUP_SEALED', 'The group takes no more members. Make a new group.', { group, state: snapshot.value })
}
