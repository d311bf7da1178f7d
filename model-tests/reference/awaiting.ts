import { isTerminal, type Model, type RefAwait, type RefTask, taskOf } from './model.ts'

/** Awaits: begun when the other calls of the batch have settled, kept over a pause, done when what they name is terminal. */

export function beginJoined(task: RefTask): void {
  if (task.pausing) {
    task.state = 'paused'
    return
  }
  task.awaiting ??= task.joining
  task.joining = null
}

/** An interrupt, a barrier or the end of the task: begun or not. */
export function endJoining(task: RefTask): void {
  task.joining = null
  task.awaiting = null
}

function isOver(model: Model, { tasks, group }: RefAwait): boolean {
  const state = model.groups.find(({ id }) => id === group)?.state
  const fired = group === null || state === 'resolved' || state === 'cancelled'
  return fired && tasks.every((id) => isTerminal(taskOf(model, id) ?? neverMade(id)))
}

function neverMade(id: string): RefTask {
  throw new Error(`the await of ${id}, which was never made, was accepted`)
}

/** A task that runs and waits for what is over; one that is paused keeps its state. */
export function doneWaiting(model: Model): RefTask | undefined {
  return model.tasks.find((task) => task.state === 'running' && task.awaiting !== null && isOver(model, task.awaiting))
}
