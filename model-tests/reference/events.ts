import {
  ancestorsOf,
  type Effect,
  type Model,
  type RefAwait,
  type RefCall,
  type RefTask,
  refuse,
  startedCalls,
  taskOf,
  type Verdict,
} from './model.ts'
import { admit, boundary, continueBatch, end, fail, lose, waits } from './scheduling.ts'

/** What the world does: a model answers, a call ends. */
export type WorldEvent =
  | {
      readonly type: 'answer'
      readonly task: string
      /** None: a final answer. */
      readonly calls: readonly { readonly id: string; readonly effect: Effect }[]
      /** Asked for with the calls. */
      readonly awaits?: { readonly tasks?: readonly string[]; readonly group?: string }
    }
  /** The provider refuses, and says that asking again is no use. */
  | { readonly type: 'refused'; readonly task: string }
  /** The deadline of an await has come. */
  | { readonly type: 'deadline'; readonly task: string }
  | {
      readonly type: 'outcome'
      readonly call: string
      /** `cancelled` is the acknowledgement of an abort; `lost` is thrown by a call that cannot tell what it did. */
      readonly outcome: 'succeeded' | 'failed' | 'unknown' | 'cancelled' | 'lost'
    }
  /** The grace of the barrier under way is over. */
  | { readonly type: 'grace' }
  /** The process dies, and another one carries on. */
  | { readonly type: 'crash' }

/** A final answer completes the task, unless steering is pending: then there is another round. */
export function answer(model: Model, event: Extract<WorldEvent, { type: 'answer' }>): Verdict {
  const task = taskOf(model, event.task)
  // The request was given up before its answer came; it is charged, and changes nothing.
  if (task === undefined || !task.requesting) return refuse('INVALID_TRANSITION')
  task.requesting = false
  task.asked = 0
  const joining = event.awaits === undefined ? null : joined(model, task, event.awaits)
  if (event.calls.length > 0 || event.awaits !== undefined) {
    task.joining = joining
    for (const { id, effect } of event.calls) {
      const call: RefCall = { id, effect, state: 'requested', attempts: 0, interrupted: false }
      admit(model, task, call)
      task.calls.push(call)
    }
    continueBatch(model, task)
  } else if (task.steering.length > 0) boundary(model, task)
  else end(model, task, 'completed')
  return { results: ['applied'], task: task.id }
}

/** A mutating call that ends unknown is quarantined, whatever the path; a later result of it changes nothing. */
export function outcome(model: Model, event: Extract<WorldEvent, { type: 'outcome' }>): Verdict {
  const task = model.tasks.find((each) => each.calls.some((call) => call.id === event.call))
  const call = task?.calls.find((each) => each.id === event.call)
  if (task === undefined || call === undefined || waits(call)) return refuse('INVALID_TRANSITION')
  if (call.state !== 'started') return { results: ['too_late'] }
  if (event.outcome === 'unknown') lose(model, call)
  else if (event.outcome === 'lost') thrownAsLost(model, task, call)
  else call.state = event.outcome
  goOn(model, task)
  return { results: ['applied'], task: task.id }
}

function goOn(model: Model, task: RefTask): void {
  if (task.state !== 'cancelling') continueBatch(model, task)
}

/** A read and an idempotent call are tried again, bounded, unless the task ends or an interrupting steer waits. Only a read has failed then. */
function thrownAsLost(model: Model, task: RefTask, call: RefCall): void {
  if (call.effect === 'mutate' || task.state === 'cancelling' || task.interrupting) lose(model, call)
  else if (call.attempts < model.attemptBound) tryAgain(model, task, call)
  else if (call.effect === 'read') call.state = 'failed'
  else lose(model, call)
}

function tryAgain(model: Model, task: RefTask, call: RefCall): void {
  call.interrupted = true
  call.state = 'requested'
  admit(model, task, call)
}

/** Only the caller's own descendants, and groups without the caller; anything else is an error that the model is told. */
function joined(
  model: Model,
  task: RefTask,
  { tasks = [], group }: { readonly tasks?: readonly string[]; readonly group?: string },
): RefAwait | null {
  const own = tasks.every((id) => {
    const other = taskOf(model, id)
    return other !== undefined && ancestorsOf(model, other).includes(task)
  })
  const known = group === undefined || (model.groups.some(({ id }) => id === group) && task.group !== group)
  return own && known && (tasks.length > 0 || group !== undefined) ? { tasks, group: group ?? null } : null
}

export function refused(model: Model, event: Extract<WorldEvent, { type: 'refused' }>): Verdict {
  const task = taskOf(model, event.task)
  if (task === undefined || !task.requesting) return refuse('INVALID_TRANSITION')
  task.requesting = false
  fail(model, task)
  return { results: ['applied'], task: task.id }
}

export function deadline(model: Model, event: Extract<WorldEvent, { type: 'deadline' }>): Verdict {
  const task = taskOf(model, event.task)
  if (task === undefined || task.awaiting === null) return refuse('INVALID_TRANSITION')
  task.awaiting = null
  boundary(model, task)
  return { results: ['applied'], task: task.id }
}

/** Started calls without an outcome end `unknown`, and every barrier under way with them. */
export function grace(model: Model): Verdict {
  for (const task of model.tasks)
    if (task.state === 'cancelling') for (const call of startedCalls(task)) lose(model, call)
  return { results: ['applied'] }
}

/** What was in flight is lost: changes end unknown first, others are tried again, a request is asked anew at the boundary. */
export function crash(model: Model): Verdict {
  const living = model.tasks.filter((task) => task.state === 'running' || task.state === 'cancelling')
  const lost = living.map((task) => ({ task, calls: startedCalls(task) }))
  for (const { calls } of lost) for (const call of calls) if (call.effect === 'mutate') lose(model, call)
  for (const { task, calls } of lost) {
    for (const call of calls) if (call.effect !== 'mutate') again(model, task, call)
    if (task.requesting) boundary(model, task)
    else goOn(model, task)
  }
  return { results: ['applied'] }
}

function again(model: Model, task: RefTask, call: RefCall): void {
  const over = task.state === 'cancelling' || task.interrupting || call.attempts >= model.attemptBound
  if (over) lose(model, call)
  else tryAgain(model, task, call)
}
