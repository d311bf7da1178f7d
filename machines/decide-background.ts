import type { AgendaItem } from './agenda.ts'
import type { OperatorCommand } from './commands.ts'
import type { GroupId, TaskId } from './vocabulary.ts'
import type { World } from './world.ts'

type Named<N extends OperatorCommand['name']> = Extract<OperatorCommand, { name: N }>

/** The task that a key has made before: the same one for the same request, and never another one. */
export function keptFor(
  world: World,
  { idempotencyKey, request }: Pick<Named<'spawn'>, 'idempotencyKey' | 'request'>,
): { readonly task: TaskId; readonly same: boolean } | null {
  const kept = idempotencyKey === undefined ? undefined : world.keys.get(idempotencyKey)
  return kept === undefined ? null : { task: kept.task, same: kept.request === request.request }
}

/** What a command about a group leads to; null where there is no such group, or nothing in it to change. */
export function decideGroup(
  world: World,
  command: Named<'createGroup' | 'sealGroup' | 'cancelGroup'>,
): AgendaItem | 'joined' | 'too_late' | null {
  const { group } = command
  const snapshot = world.groups.get(group)
  if (world.session !== null && !world.session.matches({ lifecycle: 'open' })) return null
  if (command.name === 'createGroup') {
    return { type: 'group.created', data: { group, ...(command.failFast ? { failFast: true } : {}) } }
  }
  if (snapshot === undefined) return null
  const { members } = snapshot.context
  if (command.name === 'sealGroup') {
    if (snapshot.matches('open')) return { type: 'group.sealed', data: { group, members } }
    return snapshot.matches('cancelled') ? 'too_late' : 'joined'
  }
  if (snapshot.matches('cancelled')) return 'joined'
  return snapshot.matches('resolved') ? 'too_late' : { type: 'group.cancelled', data: { group, members } }
}

/** Everything that a task waits for has ended; of a group nothing more is waited for when it is resolved or cancelled. */
export function isAwaitOver(world: World, awaited: Awaited): boolean {
  if (awaited.group !== null) {
    const group = world.groups.get(awaited.group)
    return group === undefined || group.matches('resolved') || group.matches('cancelled')
  }
  return awaited.tasks.every((task) => world.taskRecords.get(task)?.ended != null)
}

export interface Awaited {
  readonly tasks: readonly TaskId[]
  readonly group: GroupId | null
}

/** A cancelled group is over when the last of its members is. */
export function isGroupOver(world: World, group: GroupId): boolean {
  const snapshot = world.groups.get(group)
  if (snapshot === undefined || snapshot.matches('resolved')) return true
  return snapshot.matches('cancelled') && Object.keys(snapshot.context.living).length === 0
}

export function awaitedTasks(world: World, { tasks, group }: Awaited): readonly TaskId[] {
  return group === null ? tasks : (world.groups.get(group)?.context.members ?? [])
}

/** Every task below another one, living or not, whatever the links; in the order of their creation. */
export function descendantsOf(world: World, task: TaskId): ReadonlySet<TaskId> {
  const found = new Set<TaskId>()
  for (const { id, created } of world.taskRecords.values())
    if (created.parent !== undefined && (created.parent === task || found.has(created.parent))) found.add(id)
  return found
}
