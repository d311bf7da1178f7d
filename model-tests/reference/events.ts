import { type Effect, type Model, refuse, taskOf, type Verdict } from './model.ts'
import { boundary, continueBatch, end, finishBarrier } from './scheduling.ts'

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
      /** `cancelled` is the acknowledgement of an abort. */
      readonly outcome: 'succeeded' | 'failed' | 'unknown' | 'cancelled'
    }

/** A final answer completes the task, unless steering is pending: then there is another round. */
export function answer(model: Model, event: Extract<WorldEvent, { type: 'answer' }>): Verdict {
  const task = taskOf(model, event.task)
  // The request was given up before its answer came; it is charged, and changes nothing.
  if (task === undefined || !task.requesting) return refuse('INVALID_TRANSITION')
  task.requesting = false
  if (event.calls.length > 0) {
    const held = model.quarantine.length > 0
    for (const { id, effect } of event.calls) {
      task.calls.push({ id, effect, state: held && effect !== 'read' ? 'held' : 'started' })
    }
  } else if (task.steering.length > 0) boundary(model, task)
  else end(model, task, 'completed')
  return { results: ['applied'], task: task.id }
}

/** A mutating call that ends unknown is quarantined, whatever the path; a later result of it changes nothing. */
export function outcome(model: Model, event: Extract<WorldEvent, { type: 'outcome' }>): Verdict {
  const task = model.tasks.find((each) => each.calls.some((call) => call.id === event.call))
  const call = task?.calls.find((each) => each.id === event.call)
  if (task === undefined || call === undefined || call.state === 'held') return refuse('INVALID_TRANSITION')
  if (call.state !== 'started') return { results: ['too_late'] }
  call.state = event.outcome
  // Nothing uncertain remains of a read whose outcome is lost.
  if (event.outcome === 'unknown' && call.effect === 'read') call.state = 'cancelled'
  if (event.outcome === 'unknown' && call.effect === 'mutate') {
    model.quarantine.push(call.id)
  }
  if (task.state === 'cancelling') finishBarrier(model, task)
  else continueBatch(model, task)
  return { results: ['applied'], task: task.id }
}
