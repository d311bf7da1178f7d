import type { AgendaItem } from '../../machines/agenda.ts'
import { isSettled, ownPause } from '../../machines/task-context.ts'
import { type CallId, isPlannerTool, type TaskId } from '../../machines/vocabulary.ts'
import type { TaskSnapshot } from '../../machines/world.ts'
import { syntheticResult } from '../context/synthetic-result.ts'
import { added, needed } from './expand-messages.ts'
import { answerWait, performPlannerTool } from './perform-planner-tool.ts'
import type { Step } from './step.ts'

/**
 * One tool message for each call of the batch, in call order, once every call has its outcome. Planner tools are performed here,
 * one after the other: each sees what the one before it has changed.
 */
export function answerCalls(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined || !isSettled(snapshot.context)) return []
  const unanswered = step.world.unanswered.get(task) ?? []
  if (waits(step, snapshot, unanswered)) return []
  const items: AgendaItem[] = []
  for (const call of unanswered) {
    if (isPlanned(snapshot, call)) return [...items, ...planned(step, snapshot, call)]
    items.push(answered(step, task, call))
  }
  return items
}

function isPlanned(snapshot: TaskSnapshot, call: CallId): boolean {
  return isPlannerTool(snapshot.context.calls[call]?.name ?? '')
}

/** What the planner asked for waits for the end of the task's own pause, as calls do, and so do the results behind it. */
function waits(step: Step, snapshot: TaskSnapshot, unanswered: readonly CallId[]): boolean {
  if (!mayPerform(step, snapshot) || ownPause(snapshot.context) === null) return false
  return unanswered.some((call) => isPlanned(snapshot, call))
}

/** Not in a turn that ends, and not before an interrupting steer is applied. */
function mayPerform(step: Step, snapshot: TaskSnapshot): boolean {
  return snapshot.matches('running') && !step.failing.has(snapshot.context.id) && !snapshot.context.interrupting
}

function planned(step: Step, snapshot: TaskSnapshot, call: CallId): readonly AgendaItem[] {
  const task = snapshot.context.id
  const answer = answerWait(step, task, call)
  if (answer !== null) return answer
  if (mayPerform(step, snapshot)) return performPlannerTool(step, task, call)
  const why = snapshot.context.interrupting
    ? 'Not done: new input from the operator came first. It had no effect.'
    : 'Not done: the turn ended before. It had no effect.'
  return [added(step, { task, role: 'tool', forCall: call, synthetic: true }, why), { ask: 'answerCalls', task }]
}

function answered(step: Step, task: TaskId, call: CallId): AgendaItem {
  const { world, bodies } = step.base
  const record = needed(world.callRecords.get(call), 'call record')
  bodies.arguments.delete(call)
  if (record.finished === null)
    return added(step, { task, role: 'tool', forCall: call, synthetic: true }, syntheticResult(record))
  const output = needed(bodies.outputs.get(call), 'output')
  bodies.outputs.delete(call)
  return added(step, { task, role: 'tool', forCall: call }, output)
}
