import type { AgendaItem, Ask } from '../../machines/agenda.ts'
import { openPauses, pausesBound } from '../../machines/decide.ts'
import { mayRest, ownPause, type TaskContext } from '../../machines/task-context.ts'
import type { PauseToken, TaskId } from '../../machines/vocabulary.ts'
import type { TaskSnapshot } from '../../machines/world.ts'
import { newToken } from './pause-token.ts'
import type { Step } from './step.ts'

/** Nothing is in flight and something is awaited from outside: the task rests, durably. */
export function restIfIdle(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined || step.failing.has(task)) return []
  if (!snapshot.matches('running') || snapshot.matches({ running: 'requesting' })) return []
  if (!mayRest(snapshot.context)) return []
  // What an interrupting steer finds waiting is withdrawn in this step.
  if (snapshot.context.interrupting && ownPause(snapshot.context) === null) return []
  const reasons = [...new Set(Object.values(snapshot.context.pauses).map((pause) => pause.reason))]
  return [{ type: 'task.paused', task, data: { reasons } }]
}

/** What a decision leads to: the task runs again when nothing else holds it, and the call starts or is refused. */
export function followDecision(step: Step, ask: Extract<Ask, { ask: 'followDecision' }>): readonly AgendaItem[] {
  const { task, call, decision } = ask
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined || step.failing.has(task)) return []
  const denied = decision === 'reject' || decision === 'timeout'
  const code = decision === 'timeout' ? 'PAUSE_TIMEOUT' : 'PAUSE_REJECTED'
  if (call === null && denied) return [{ ask: 'failTask', task, code }]
  const refuses = call !== null && denied && snapshot.context.calls[call]?.phase === 'held'
  const items: AgendaItem[] = refuses ? [{ type: 'call.refused', task, call, data: { code } }] : []
  const after = refuses ? withoutCall(snapshot.context, call) : snapshot.context
  if (snapshot.matches('paused')) return mayRest(after) ? items : [...items, resumed(step, snapshot)]
  return refuses
    ? items
    : [
        { ask: 'admitCalls', task },
        { ask: 'restIfIdle', task },
      ]
}

/** The same task once the call is refused: only then is known whether something is still awaited. */
function withoutCall(context: TaskContext, call: string): TaskContext {
  const { [call]: _refused, ...calls } = context.calls
  return { ...context, calls }
}

/** Time spent in a pause does not count against the deadline of the turn. */
function resumed(step: Step, { context }: TaskSnapshot): AgendaItem {
  const task = context.id
  if (context.deadline === null || context.pausedAt === null) return { type: 'task.resumed', task, data: {} }
  const pausedMs = step.now - Date.parse(context.pausedAt)
  const deadline = new Date(Date.parse(context.deadline) + Math.max(0, pausedMs)).toISOString()
  return { type: 'task.resumed', task, data: { deadline } }
}

/** Another deadline of the same moment may have settled it already. */
export function expirePause(step: Step, task: TaskId, token: PauseToken): readonly AgendaItem[] {
  const pause = step.world.tasks.get(task)?.context.pauses[token]
  if (pause === undefined) return []
  return [{ type: 'pause.settled', task, call: pause.call, data: { token, decision: 'timeout' } }]
}

/**
 * Where the host wants it, a task that lost sight of a change rests until an operator has acknowledged it. An own pause that is
 * open already serves: whoever settles that one decides.
 */
export function awaitAcknowledgement(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (step.base.host.onUnknown !== 'pause' || snapshot === undefined || step.failing.has(task)) return []
  if (!snapshot.matches('running') || ownPause(snapshot.context) !== null || isFullOfPauses(step)) return []
  return [{ type: 'pause.requested', task, data: { token: newToken(step), reason: 'acknowledgement' } }]
}

/** The quarantine is over: what waited for that goes on. */
export function settleAcknowledged(step: Step): readonly AgendaItem[] {
  const items: AgendaItem[] = []
  for (const [task, { context }] of step.world.tasks)
    for (const [token, pause] of Object.entries(context.pauses))
      if (pause.reason === 'acknowledgement')
        items.push({ type: 'pause.settled', task, call: null, data: { token, decision: 'resume' } })
  return items
}

/** As many pauses are open in the session as may be. */
export function isFullOfPauses(step: Step): boolean {
  return openPauses(step.world) >= pausesBound(step.world)
}
