import { type Model, refuse, taskOf, type Verdict } from './model.ts'
import { admit, boundary, continueBatch, fail, waits } from './scheduling.ts'

/** The operator's own pause of the active task. */

/** Shuts starts at once; the task is paused when nothing is in flight. A second own pause joins the first. */
export function pause(model: Model): Verdict {
  const task = taskOf(model, model.active)
  if (task === undefined) return refuse('TASK_NOT_ACTIVE')
  if (task.pausing) return { results: ['joined'], task: task.id }
  if (task.state === 'cancelling') return refuse('TASK_CANCELLING')
  task.pausing = true
  model.pauses += 1
  if (!task.requesting) continueBatch(model, task)
  return { results: ['applied'], task: task.id }
}

/** Once, and then never again. A rejection of the task's own pause ends it, behind the barrier where calls are in flight. */
export function resume(model: Model, decision: 'resume' | 'reject'): Verdict {
  const task = taskOf(model, model.active)
  if (task === undefined || !task.pausing) return refuse(model.pauses === 0 ? 'PAUSE_NOT_FOUND' : 'ALREADY_SETTLED')
  task.pausing = false
  const wasPaused = task.state === 'paused'
  task.state = 'running'
  if (decision === 'reject') {
    fail(model, task)
  } else if (task.calls.some(waits)) {
    for (const call of task.calls) if (waits(call)) admit(model, task, call)
  } else if (task.joining !== null || task.awaiting !== null) continueBatch(model, task)
  else if (wasPaused) boundary(model, task)
  return { results: ['applied'], task: task.id }
}
