import type { AgendaItem, Ask } from '../../machines/agenda.ts'
import type { TerminalType } from '../../machines/facts.ts'
import type { TerminalData } from '../../machines/facts-of-work.ts'
import { startedTasks } from '../../machines/session-context.ts'
import { isSettled, nothingLives, type TaskContext } from '../../machines/task-context.ts'
import type { AbandonReason, TaskId } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import { freeText } from './free-text.ts'
import { keptText } from './kept-results.ts'
import type { Step } from './step.ts'

type AskOf<K extends Ask['ask']> = Extract<Ask, { ask: K }>

/** The gate goes down, with a stored end of the grace; a task that never started has no barrier. */
export function cancelTask(step: Step, ask: AskOf<'cancelTask'>): readonly AgendaItem[] {
  const { task, status, replacement, steering, cascadedFrom } = ask
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined) return []
  const reason = freeText(step.base.host.redactor, ask.reason)
  if (snapshot.matches('pending')) return [{ ask: 'endTask', task, status, reason }]
  if (!snapshot.matches('running') && !snapshot.matches('paused')) return []
  // What a replacement does not inherit expires because it is there at the end, not because it was asked for now.
  const fate = steering ?? 'inherit'
  return [
    {
      type: 'task.cancelling',
      task,
      data: {
        status,
        reason,
        graceUntil: step.after(step.base.host.limits.graceMs),
        steering: fate,
        ...(replacement === undefined ? {} : { replacement }),
        ...(cascadedFrom === undefined ? {} : { cascadedFrom }),
      },
    },
  ]
}

/** Breadth first over the living descendants that the cancel reaches; all in this step. */
export function cancelDescendants(step: Step, task: TaskId): readonly AgendaItem[] {
  const context = step.world.tasks.get(task)?.context
  if (context?.barrier == null) return []
  const reason = context.barrier.reason
  return Object.keys(context.descendants)
    .map((id) => ({ id, depth: depthOf(step.world, id), seq: step.world.taskRecords.get(id)?.createdSeq ?? 0 }))
    .sort((a, b) => a.depth - b.depth || a.seq - b.seq)
    .map(({ id }) => ({ ask: 'cancelTask', task: id, status: 'cancelled', reason, cascadedFrom: task }))
}

export function depthOf(world: World, task: TaskId): number {
  let depth = 0
  let at = world.taskRecords.get(task)?.created.parent
  while (at !== undefined) {
    depth += 1
    at = world.taskRecords.get(at)?.created.parent
  }
  return depth
}

/** Everything that the barrier waited for has an outcome: the results go into the conversation, and the one terminal stands. */
export function concludeBarrier(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined || !snapshot.matches('quiescing')) return []
  const { context } = snapshot
  if (context.barrier === null || !nothingLives(context) || !isSettled(context)) return []
  const { status, code, reason, replacement } = context.barrier
  return [
    { ask: 'answerCalls', task },
    {
      ask: 'endTask',
      task,
      status,
      reason,
      ...(code === undefined ? {} : { code }),
      ...(replacement === undefined ? {} : { replacement }),
    },
  ]
}

/** A failure is a barrier only when calls or descendants live; otherwise what had not started ends with it, in this step. */
export function failTask(step: Step, ask: AskOf<'failTask'>): readonly AgendaItem[] {
  const { task, code } = ask
  const context = step.world.tasks.get(task)?.context
  if (context === undefined || context.barrier !== null) return []
  const reason = freeText(step.base.host.redactor, ask.reason ?? code)
  if (nothingLives(context)) {
    step.failing.add(task)
    return [
      ...(context.request === null ? [] : [{ ask: 'abandonRequest', task, reason: whyCut(code) } as const]),
      { ask: 'settleUnstarted', task, why: 'before_start' },
      { ask: 'answerCalls', task },
      { ask: 'endTask', task, status: 'failed', code, ...(ask.reason === undefined ? {} : { reason }) },
    ]
  }
  const graceUntil = step.after(step.base.host.limits.graceMs)
  return [{ type: 'task.cancelling', task, data: { status: 'failed', reason, code, graceUntil, steering: 'inherit' } }]
}

/** A request is cut short by the end of the turn's time, or by somebody's decision. */
function whyCut(code: string): AbandonReason {
  return code === 'BUDGET_EXCEEDED' ? 'deadline' : 'cancelled'
}

/** What there is of an answer that was cut off is worth reading. */
const cutAnswerCodes: ReadonlySet<string> = new Set(['MODEL_ANSWER_CUT', 'MODEL_ANSWER_FILTERED'])

export function endTask(step: Step, ask: AskOf<'endTask'>): readonly AgendaItem[] {
  const { task, status, code, reason, replacement } = ask
  const context = step.world.tasks.get(task)?.context
  if (context === undefined) return []
  const kept = status === 'completed' || (code !== undefined && cutAnswerCodes.has(code))
  const messageId = kept ? (step.world.taskRecords.get(task)?.lastAnswer ?? undefined) : undefined
  const data: TerminalData = {
    ...(messageId === undefined ? {} : { messageId }),
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason: freeText(step.base.host.redactor, reason) }),
    ...(replacement === undefined ? {} : { replacement }),
    usage: context.usage,
    steps: context.step,
    calls: context.counts,
    pendingSteering: pendingOf(context),
  }
  const text = messageId === undefined ? undefined : step.base.bodies.messages.get(messageId)?.content
  if (context.kind === 'background' && text !== undefined) step.base.bodies.results.set(task, keptText(text))
  step.base.desks.delete(task)
  step.base.bodies.inputs.delete(task)
  const type: TerminalType = `task.${status}`
  return [{ type, task, data }]
}

function pendingOf(context: TaskContext): readonly string[] {
  return context.steering
}

export function closeIfIdle(step: Step): readonly AgendaItem[] {
  const session = step.world.session?.context
  if (session?.closing == null || startedTasks(session).length > 0) return []
  if (session.closing === 'close') return [{ type: 'session.closed', data: {} }]
  return Object.keys(session.tasks).length > 0 ? [] : [{ type: 'session.erased', data: {} }]
}
