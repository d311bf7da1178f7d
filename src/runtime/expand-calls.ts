import type { AgendaItem } from '../../machines/agenda.ts'
import { type CallEntry, entries, inFlight, ownPause, type TaskContext } from '../../machines/task-context.ts'
import type { CallId, TaskId } from '../../machines/vocabulary.ts'
import { judgeCall, type Verdict } from './admission.ts'
import { isFullOfPauses, settleAcknowledged } from './expand-pauses.ts'
import { newToken } from './pause-token.ts'
import type { Step } from './step.ts'

/**
 * Checks the calls that wait and answers for one of them, then asks to go on: every check sees what the last one changed.
 * Refusals and confirmations come first, so that what an operator must decide is known before anything starts.
 */
export function admitCalls(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined || !snapshot.matches({ running: 'acting' }) || isGateShut(step, snapshot.context))
    return []
  const waiting = entries(snapshot.context).filter(([, entry]) => isWaiting(entry))
  const judged = waiting.map(([call, entry]) => ({ call, entry, verdict: judgeCall(step, task, call) }))
  for (const { call, entry, verdict } of judged)
    if (verdict.kind === 'refuse' || verdict.kind === 'confirm')
      return [...answerOf(step, task, { call, entry, verdict }), again(task)]
  const full = inFlight(snapshot.context).length >= step.base.host.limits.parallelCalls
  for (const { call, entry, verdict } of judged) {
    if (verdict.kind === 'start' && full) continue
    if (verdict.kind === 'quarantine' && entry.hold === 'quarantine') continue
    return [...answerOf(step, task, { call, entry, verdict }), again(task)]
  }
  return []
}

function again(task: TaskId): AgendaItem {
  return { ask: 'admitCalls', task }
}

/** Nothing of the batch starts while the task ends, rests by its own pause, or an interrupting steer waits to be applied. */
function isGateShut(step: Step, context: TaskContext): boolean {
  return step.base.closing || step.failing.has(context.id) || context.interrupting || ownPause(context) !== null
}

/** Asked for and not judged yet, or held by what can end without a decision about this call, or decided. */
function isWaiting(entry: CallEntry): boolean {
  if (entry.phase === 'requested') return true
  return entry.phase === 'held' && entry.token === null && (entry.hold === 'quarantine' || entry.approved)
}

interface Judged {
  readonly call: CallId
  readonly entry: CallEntry
  readonly verdict: Verdict
}

function answerOf(step: Step, task: TaskId, { call, entry, verdict }: Judged): readonly AgendaItem[] {
  switch (verdict.kind) {
    case 'refuse':
      return entry.interrupted && entry.effect === 'idempotent'
        ? [{ type: 'call.unknown', task, call, data: { reason: 'crash' } }]
        : [{ type: 'call.refused', task, call, data: { code: verdict.code } }]
    case 'confirm': {
      if (isFullOfPauses(step)) return [{ type: 'call.refused', task, call, data: { code: 'LIMIT_EXCEEDED' } }]
      const token = newToken(step)
      return [
        { type: 'pause.requested', task, call, data: { token, reason: 'approval', subject: entry.name } },
        { type: 'call.held', task, call, data: { reason: 'approval', token } },
      ]
    }
    case 'quarantine':
      return [{ type: 'call.held', task, call, data: { reason: 'quarantine' } }]
    case 'start':
      return [started(step, task, call, entry)]
  }
}

function started(step: Step, task: TaskId, call: CallId, entry: CallEntry): AgendaItem {
  const timeoutMs = step.base.desks.get(task)?.tools.get(entry.name)?.tool.timeoutMs
  return {
    type: 'call.started',
    task,
    call,
    data: {
      attempt: entry.attempts + 1,
      control: step.base.control.version,
      ...(timeoutMs === undefined ? {} : { deadline: step.after(timeoutMs) }),
    },
  }
}

/** The quarantine has ended: what waited for its acknowledgement goes on, what it held is checked again, in call order. */
export function recheckHolds(step: Step): readonly AgendaItem[] {
  const items: AgendaItem[] = [...settleAcknowledged(step)]
  for (const [task, snapshot] of step.world.tasks)
    if (Object.values(snapshot.context.calls).some((entry) => entry.phase === 'held' && entry.hold === 'quarantine'))
      items.push(again(task), { ask: 'restIfIdle', task })
  return items
}
