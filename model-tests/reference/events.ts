import {
  type Effect,
  type Model,
  type RefCall,
  type RefTask,
  refuse,
  startedCalls,
  taskOf,
  type Verdict,
} from './model.ts'
import { admit, boundary, continueBatch, end, finishBarrier, lose, waits } from './scheduling.ts'

/** What the world does: a model answers, a call ends. */
export type WorldEvent =
  | {
      readonly type: 'answer'
      readonly task: string
      /** None: a final answer. */
      readonly calls: readonly { readonly id: string; readonly effect: Effect }[]
    }
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
  if (event.calls.length > 0) {
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
  if (task.state === 'cancelling') finishBarrier(model, task)
  else continueBatch(model, task)
}

/** A read and an idempotent call are tried again, bounded, unless the task ends or an interrupting steer waits. */
function thrownAsLost(model: Model, task: RefTask, call: RefCall): void {
  if (call.effect === 'mutate' || task.state === 'cancelling' || task.interrupting) lose(model, call)
  else if (call.attempts >= model.attemptBound) call.state = 'failed'
  else tryAgain(model, task, call)
}

function tryAgain(model: Model, task: RefTask, call: RefCall): void {
  call.interrupted = true
  call.state = 'requested'
  admit(model, task, call)
}

/** Started calls without an outcome end `unknown`, and the barrier with them. */
export function grace(model: Model): Verdict {
  const task = taskOf(model, model.active)
  if (task === undefined || task.state !== 'cancelling') return { results: ['applied'] }
  for (const call of startedCalls(task)) lose(model, call)
  finishBarrier(model, task)
  return { results: ['applied'] }
}

/** What was in flight is lost: changes end unknown first, others are tried again, a request is asked anew at the boundary. */
export function crash(model: Model): Verdict {
  const task = taskOf(model, model.active)
  if (task === undefined || task.state === 'paused') return { results: ['applied'] }
  const lost = startedCalls(task)
  for (const call of lost) if (call.effect === 'mutate') lose(model, call)
  for (const call of lost) {
    if (call.effect === 'mutate') continue
    const over = task.state === 'cancelling' || task.interrupting || call.attempts >= model.attemptBound
    if (over) lose(model, call)
    else tryAgain(model, task, call)
  }
  if (task.requesting) boundary(model, task)
  else goOn(model, task)
  return { results: ['applied'] }
}
