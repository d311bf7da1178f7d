import type { AgendaItem } from '../../machines/agenda.ts'
import { type CallEntry, entries, isInFlight } from '../../machines/task-context.ts'
import type { CallId, TaskId, UnknownReason } from '../../machines/vocabulary.ts'
import { needed } from './expand-messages.ts'
import type { Step } from './step.ts'

/** Ends what is not in flight: a call without an attempt is cancelled; after an attempt lost in a crash, by what is known. */
export function settleUnstarted(step: Step, task: TaskId, why: 'before_start' | 'withdrawn'): readonly AgendaItem[] {
  const context = step.world.tasks.get(task)?.context
  if (context === undefined) return []
  const items: AgendaItem[] = []
  for (const [call, entry] of entries(context))
    if (entry.phase === 'requested' || entry.phase === 'held') items.push(unstarted(task, call, entry, why))
  if (context.awaiting !== null) {
    const how = why === 'withdrawn' ? 'interrupted' : 'cancelled'
    items.push({ ask: 'settleAwait', task, how })
  }
  for (const [token, pause] of Object.entries(context.pauses))
    if (pause.call === null && (why === 'before_start' || pause.reason === 'input'))
      items.push({ type: 'pause.settled', task, data: { token, decision: 'withdrawn' } })
  return items
}

function unstarted(task: TaskId, call: CallId, entry: CallEntry, why: 'before_start' | 'withdrawn'): AgendaItem {
  if (!entry.interrupted) return { type: 'call.cancelled', task, call, data: { when: why } }
  if (entry.effect === 'idempotent') return { type: 'call.unknown', task, call, data: { reason: 'crash' } }
  return { type: 'call.cancelled', task, call, data: { when: 'interrupted' } }
}

/** Abort signals go out to what runs; a call that is being aborted already keeps its own grace. */
export function abortCalls(step: Step, task: TaskId): readonly AgendaItem[] {
  const context = step.world.tasks.get(task)?.context
  if (context === undefined) return []
  const graceUntil = context.barrier?.graceUntil ?? step.after(step.base.host.limits.graceMs)
  return entries(context)
    .filter(([, entry]) => entry.phase === 'started')
    .map(([call]) => ({ type: 'call.aborting', task, call, data: { reason: 'cancel', graceUntil } }))
}

/** A stored deadline of a call has passed: its own, the end of its grace, or the end of its probe. */
export function expireCall(step: Step, task: TaskId, call: CallId): readonly AgendaItem[] {
  const entry = step.world.tasks.get(task)?.context.calls[call]
  const snapshot = step.world.calls.get(call)
  if (entry === undefined || snapshot === undefined || !isInFlight(entry)) return []
  const aborted = snapshot.context.aborted
  switch (entry.phase) {
    case 'started': {
      const graceUntil = step.after(step.base.host.limits.graceMs)
      return [{ type: 'call.aborting', task, call, data: { reason: 'deadline', graceUntil } }]
    }
    case 'aborting':
      return settleUncertain(step, task, call, aborted === 'deadline' ? 'deadline' : 'grace')
    default: {
      const reason = aborted === 'deadline' ? 'deadline' : aborted === 'cancel' ? 'grace' : 'crash'
      return [
        { type: 'call.verified', task, call, data: { outcome: 'unknown' } },
        { type: 'call.unknown', task, call, data: { reason } },
      ]
    }
  }
}

/** Nobody knows what the call did. A probe may still tell of a mutating one; otherwise this is its outcome. */
export function settleUncertain(step: Step, task: TaskId, call: CallId, reason: UnknownReason): readonly AgendaItem[] {
  const entry = needed(step.world.tasks.get(task)?.context.calls[call], 'call of the batch')
  if (!isInFlight(entry)) return []
  if (entry.effect === 'read') return [{ type: 'call.cancelled', task, call, data: { when: 'interrupted' } }]
  const tool = step.base.desks.get(task)?.tools.get(entry.name)?.tool
  if (entry.effect === 'mutate' && tool?.verify !== undefined && entry.phase !== 'verifying')
    return [{ type: 'call.verifying', task, call, data: { deadline: step.after(step.base.host.limits.verifyMs) } }]
  return [{ type: 'call.unknown', task, call, data: { reason } }]
}
