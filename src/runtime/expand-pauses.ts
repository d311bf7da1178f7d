import type { AgendaItem, Ask } from '../../machines/agenda.ts'
import { mayRest } from '../../machines/task-context.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import type { Step } from './step.ts'

/** Nothing is in flight and something is awaited from outside: the task rests, durably. */
export function restIfIdle(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined || step.failing.has(task)) return []
  if (!snapshot.matches('running') || snapshot.matches({ running: 'requesting' })) return []
  if (!mayRest(snapshot.context)) return []
  const reasons = [...new Set(Object.values(snapshot.context.pauses).map((pause) => pause.reason))]
  return [{ type: 'task.paused', task, data: { reasons } }]
}

/** What a decision leads to: the task runs again when nothing else holds it, and the call starts or is refused. */
export function followDecision(step: Step, ask: Extract<Ask, { ask: 'followDecision' }>): readonly AgendaItem[] {
  const { task, call, decision } = ask
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined) return []
  const denied = decision === 'reject' || decision === 'timeout'
  const code = decision === 'timeout' ? 'PAUSE_TIMEOUT' : 'PAUSE_REJECTED'
  if (call === null && denied) return [{ ask: 'failTask', task, code }]
  const resumes = snapshot.matches('paused') && !mayRest(snapshot.context)
  const items: AgendaItem[] = resumes ? [resumed(step, task)] : []
  const refuses = call !== null && denied && snapshot.context.calls[call]?.phase === 'held'
  if (refuses) items.push({ type: 'call.refused', task, call, data: { code } })
  else if (snapshot.matches('running')) items.push({ ask: 'admitCalls', task }, { ask: 'restIfIdle', task })
  return items
}

/** Time spent in a pause does not count against the deadline of the turn. */
function resumed(step: Step, task: TaskId): AgendaItem {
  const context = step.world.tasks.get(task)?.context
  if (context?.deadline == null || context.pausedAt === null) return { type: 'task.resumed', task, data: {} }
  const pausedMs = step.now - Date.parse(context.pausedAt)
  const deadline = new Date(Date.parse(context.deadline) + Math.max(0, pausedMs)).toISOString()
  return { type: 'task.resumed', task, data: { deadline } }
}
