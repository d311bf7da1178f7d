import type { AgendaItem } from '../../machines/agenda.ts'
import { type CallEntry, entries, isInFlight } from '../../machines/task-context.ts'
import type { CallId, TaskId } from '../../machines/vocabulary.ts'
import type { TaskSnapshot } from '../../machines/world.ts'
import type { Step } from './step.ts'

/** A run goes on under its new owner, unless what was resumed before it has ended its task. */
export function resumeRun(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined) return []
  return [{ type: 'run.resumed', task, data: { attempt: snapshot.context.resumptions + 1, reason: 'crash' } }]
}

/** After `run.resumed`: what was in flight when the owner before was lost. Mutating calls are settled first, then others are tried again. */
export function recoverTask(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined) return []
  if (step.base.host.recovery === 'fail' && snapshot.matches('running'))
    return [
      { ask: 'failTask', task, code: 'RUNTIME_RESTARTED' },
      { ask: 'recoverTask', task },
    ]
  if (snapshot.context.request !== null) return [{ ask: 'abandonRequest', task, reason: 'crash' }]
  const lost = entries(snapshot.context).filter(([, entry]) => isInFlight(entry))
  const mutating = lost.filter(([, entry]) => entry.effect === 'mutate')
  const others = lost.filter(([, entry]) => entry.effect !== 'mutate')
  return [
    ...mutating.flatMap(([call, entry]) => settleMutating(step, task, call, entry)),
    ...others.map(([call, entry]) => settleOther(step, snapshot, call, entry)),
    ...goOn(step, snapshot, task),
  ]
}

/** A probe that was under way is asked again, within its stored deadline. */
function settleMutating(step: Step, task: TaskId, call: CallId, entry: CallEntry): readonly AgendaItem[] {
  if (entry.phase !== 'verifying') return [{ ask: 'settleUncertain', task, call, reason: 'crash' }]
  const probe = step.base.desks.get(task)?.tools.get(entry.name)?.tool.verify
  if (probe === undefined) return [{ ask: 'expireCall', task, call }]
  step.intents.push({ type: 'verifyCall', task, call })
  return []
}

/** In a barrier, while being aborted, under an interrupting steer or after the last attempt nothing is tried again. */
function settleOther(step: Step, snapshot: TaskSnapshot, call: CallId, entry: CallEntry): AgendaItem {
  const task = snapshot.context.id
  const ending = !snapshot.matches('running') || entry.phase !== 'started' || snapshot.context.interrupting
  if (!ending && entry.attempts < step.base.host.limits.callAttempts)
    return { type: 'call.interrupted', task, call, data: { attempt: entry.attempts } }
  if (entry.effect === 'read') return { type: 'call.cancelled', task, call, data: { when: 'interrupted' } }
  return { type: 'call.unknown', task, call, data: { reason: 'crash' } }
}

function goOn(step: Step, snapshot: TaskSnapshot, task: TaskId): readonly AgendaItem[] {
  if (snapshot.matches('quiescing')) return [{ ask: 'concludeBarrier', task }]
  if (snapshot.matches({ running: 'acting' }))
    return [
      { ask: 'admitCalls', task },
      { ask: 'restIfIdle', task },
    ]
  const due = snapshot.context.retryAt === null || Date.parse(snapshot.context.retryAt) <= step.now
  return snapshot.matches({ running: 'boundary' }) && due ? [{ ask: 'continueTurn', task }] : []
}
