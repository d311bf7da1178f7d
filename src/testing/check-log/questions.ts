import type { CallId, Effect, TaskId } from '../../../machines/vocabulary.ts'
import type { SessionView, SteeringView } from './session-view.ts'
import type { CallView, PauseView, TaskView } from './task-view.ts'

/** Questions that several rules ask of the projection. They change nothing. */

/** Undeclared means `mutate` (page 2, Calls). */
export function mutates(effect: Effect | undefined): boolean {
  return effect === undefined || effect === 'mutate'
}

export function inFlight(call: CallView): boolean {
  return call.state === 'started' || call.state === 'aborting' || call.state === 'verifying'
}

export function unstarted(call: CallView): boolean {
  return call.state === 'requested' || call.state === 'held'
}

export function callsInFlight(task: TaskView): CallId[] {
  return [...task.calls.values()].filter(inFlight).map((call) => call.id)
}

export function pendingSteering(view: SessionView, task: TaskId): SteeringView[] {
  return view.steering.filter((steer) => steer.owner === task && !steer.orphaned)
}

/** A pause of the task itself, not of one of its calls. */
export function ownPause(view: SessionView, task: TaskId): PauseView | undefined {
  return [...view.pauses.values()].find((pause) => pause.task === task && pause.call === null)
}

export function pausesOf(view: SessionView, task: TaskId): PauseView[] {
  return [...view.pauses.values()].filter((pause) => pause.task === task)
}

export function pauseOfCall(view: SessionView, call: CallId): PauseView | undefined {
  return [...view.pauses.values()].find((pause) => pause.call === call)
}

export function cascadeDescendants(view: SessionView, task: TaskId): TaskView[] {
  return [...view.tasks.values()].filter((other) => other.cascadeAncestors.includes(task))
}

export function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index])
}

export function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && new Set([...left, ...right]).size === left.length
}

export function shutting(task: TaskView): boolean {
  return task.state === 'cancelling' || task.state === 'quiescing'
}
