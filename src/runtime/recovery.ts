import type { AgendaItem } from '../../machines/agenda.ts'
import { nextToStart, startedTasks } from '../../machines/session-context.ts'
import { type CallEntry, entries, isInFlight } from '../../machines/task-context.ts'
import type { TaskSnapshot, World } from '../../machines/world.ts'
import type { Owner } from '../facts/envelope.ts'
import type { Host } from './options.ts'
import type { Step } from './step.ts'

/**
 * What a new owner does first. Empty for a session that is idle, paused, held or waiting for a stored time: opening such a one
 * writes nothing.
 */
export function recoveryAgenda(world: World, host: Host, owner: Owner): readonly AgendaItem[] {
  const interrupted = [...world.tasks].filter(([, snapshot]) => isInterrupted(world, snapshot, host))
  const session = world.session
  const closing = session?.context.closing != null && startedTasks(session.context).length === 0
  const startable = session?.matches({ lifecycle: 'open' }) === true && nextToStart(session.context) !== null
  if (interrupted.length === 0 && !closing && !startable) return []
  const items: AgendaItem[] = [{ type: 'session.owned', data: { owner: owner.id, epoch: owner.epoch } }]
  for (const [task, snapshot] of interrupted) {
    items.push({
      type: 'run.resumed',
      task,
      data: { attempt: snapshot.context.resumptions + 1, reason: 'crash' },
    })
  }
  if (closing) items.push({ ask: 'closeIfIdle' })
  if (startable) items.push({ ask: 'startNext' })
  return items
}

/** What a new owner of unfinished work says before its first effect, where nothing had to be settled. */
export function takeoverAgenda(world: World, owner: Owner, acting: ReadonlySet<string>): readonly AgendaItem[] {
  const running = [...world.tasks].filter(
    ([task, snapshot]) => snapshot.matches('running') || (snapshot.matches('paused') && acting.has(task)),
  )
  const started = [...world.tasks.values()].some((snapshot) => !snapshot.matches('pending'))
  if (!started) return []
  return [
    { type: 'session.owned', data: { owner: owner.id, epoch: owner.epoch } },
    ...running.map(
      ([task, snapshot]): AgendaItem => ({
        type: 'run.resumed',
        task,
        data: { attempt: snapshot.context.resumptions + 1, reason: 'crash' },
      }),
    ),
  ]
}

/** The step asks for an effect that is more than an abort. */
export function beginsAnything(step: Step): boolean {
  return actingIn(step).size > 0
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
