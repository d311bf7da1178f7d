import type { AgendaItem } from '../../machines/agenda.ts'
import { nextToStart, startedTasks } from '../../machines/session-context.ts'
import { type CallEntry, entries, isInFlight } from '../../machines/task-context.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import type { TaskSnapshot, World } from '../../machines/world.ts'
import type { Owner } from '../facts/envelope.ts'
import type { Host } from './options.ts'
import type { Step } from './step.ts'

interface Recovering {
  readonly host: Host
  readonly owner: Owner
  /** Runs that go on by what is done for the others. */
  readonly also: ReadonlySet<TaskId>
}

/**
 * What a new owner does first. Empty for a session that is idle, paused, held or waiting for a stored time: opening such a one
 * writes nothing.
 */
export function recoveryAgenda(world: World, { host, owner, also }: Recovering): readonly AgendaItem[] {
  const interrupted = [...world.tasks].filter(
    ([task, snapshot]) => also.has(task) || isInterrupted(world, snapshot, host),
  )
  const session = world.session
  const closing = session?.context.closing != null && startedTasks(session.context).length === 0
  const startable = session?.matches({ lifecycle: 'open' }) === true && nextToStart(session.context) !== null
  if (interrupted.length === 0 && !closing && !startable) return []
  const items: AgendaItem[] = [{ type: 'session.owned', data: { owner: owner.id, epoch: owner.epoch } }]
  // Where all of them fail, those below come first: none is to end by the cancel of another.
  const order = host.recovery === 'fail' ? interrupted.reverse() : changesFirst(interrupted)
  for (const [task] of order) items.push({ ask: 'resumeRun', task })
  if (closing) items.push({ ask: 'closeIfIdle' })
  if (startable) items.push({ ask: 'startNext' })
  return items
}

/** A lost change of any task holds the calls of all: it is settled before a call of another is tried again. */
function changesFirst(
  tasks: readonly (readonly [TaskId, TaskSnapshot])[],
): readonly (readonly [TaskId, TaskSnapshot])[] {
  const changes = ([, { context }]: readonly [TaskId, TaskSnapshot]) =>
    entries(context).some(([, entry]) => isInFlight(entry) && entry.effect === 'mutate')
  return [...tasks.filter(changes), ...tasks.filter((task) => !changes(task))]
}

/** Where running tasks are to fail, nothing of theirs goes on, whichever of them ends first. */
export function runRecovery(step: Step, agenda: readonly AgendaItem[]): void {
  const { host, world } = step.base
  for (const item of agenda)
    if (host.recovery === 'fail' && 'ask' in item && item.ask === 'resumeRun')
      if (world.tasks.get(item.task)?.matches('running')) step.failing.add(item.task)
  step.run(agenda)
}

/** Tasks for which the step begins an effect. */
export function actingIn(step: Step): ReadonlySet<string> {
  const acting = new Set<string>()
  for (const { type, task } of step.intents)
    if (type === 'sendRequest' || type === 'performCall' || type === 'verifyCall') acting.add(task)
  return acting
}

/** Nothing but the owner before was to start it: it waits for no decision, and for no acknowledgement. */
function isOverdue(entry: CallEntry, world: World): boolean {
  if (entry.phase === 'requested') return true
  if (entry.phase !== 'held' || entry.token !== null) return false
  return entry.hold !== 'quarantine' || world.session?.context.quarantine.length === 0
}

function isInterrupted(world: World, snapshot: TaskSnapshot, host: Host): boolean {
  if (snapshot.matches('quiescing')) return true
  if (!snapshot.matches('running')) return false
  if (host.recovery === 'fail') return true
  if (snapshot.context.request !== null) return true
  if (entries(snapshot.context).some(([, entry]) => isInFlight(entry) || isOverdue(entry, world))) return true
  const { retryAt } = snapshot.context
  return snapshot.matches({ running: 'boundary' }) && (retryAt === null || Date.parse(retryAt) <= host.clock.now())
}
