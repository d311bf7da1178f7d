/**
 * What cannot rest at the end of a step, because what follows of necessity stands in the same step (page 1): barriers, pauses,
 * holds.
 *
 * Where the pages leave room: a call that could start may wait while the bound of parallel calls is reached, or an interrupt is
 * pending.
 */
import { bounds } from '../bounds.ts'
import { callsInFlight, cascadeDescendants, ownPause, pauseOfCall, pausesOf, pendingSteering } from '../questions.ts'
import type { Rule } from '../rule.ts'
import type { SessionView } from '../session-view.ts'
import type { TaskView } from '../task-view.ts'
import type { Report } from '../violation.ts'

/** `quiescing` rests only for started calls and living cascade descendants (page 2, Task lifecycle). */
function barriers(view: SessionView, task: TaskView, report: Report): void {
  if (task.state !== 'quiescing' || callsInFlight(task).length > 0) return
  if (cascadeDescendants(view, task.id).length === 0)
    report('INV-04', view.step.firstSeq, 'a barrier rests and nothing is left to settle')
}

/** `task.paused` is committed when nothing is in flight and a pause is what the task waits for (page 2, Pause). */
function pauses(view: SessionView, task: TaskView, report: Report): void {
  const own = ownPause(view, task.id)
  const open = pausesOf(view, task.id).length
  if (task.state === 'paused' && open === 0)
    report('INV-20', view.step.firstSeq, 'a task stays paused and nothing is awaited')
  if (task.state !== 'running' || task.request !== null || callsInFlight(task).length > 0) return
  const quarantined = [...task.calls.values()].some((call) => call.state === 'held' && call.hold === 'quarantine')
  if (own !== undefined || (open > 0 && !quarantined)) {
    report('INV-20', view.step.firstSeq, 'a task whose pause is open and that has nothing in flight is not paused')
  }
}

/** A call is held by its open pause, or by quarantine; otherwise it is checked again and starts (page 2, Pause). */
function holds(view: SessionView, task: TaskView, report: Report): void {
  if (ownPause(view, task.id) !== undefined || callsInFlight(task).length >= bounds.parallelCalls) return
  if (pendingSteering(view, task.id).some((steer) => steer.mode === 'interrupt')) return
  for (const call of task.calls.values()) {
    if (call.state !== 'held') continue
    const kept = call.hold === 'quarantine' ? view.quarantine.size > 0 : pauseOfCall(view, call.id) !== undefined
    if (!kept) report('INV-20', view.step.firstSeq, `call ${call.id} is held by nothing`)
  }
}

/** A pause of a call holds it; an interrupt ends both, and withdraws `input` pauses (page 2, Steering 7). */
function open(view: SessionView, report: Report): void {
  for (const { call, task: id, reason } of view.pauses.values()) {
    const task = view.tasks.get(id ?? '')
    if (call !== null && task?.calls.get(call)?.state !== 'held') {
      report('INV-20', view.step.firstSeq, 'a pause of a call that is not held is open')
    }
    const interrupt = view.step.interrupts.get(id ?? '')
    if (interrupt !== undefined && (call !== null || reason === 'input'))
      report('INV-20', interrupt, 'a pause outlives an interrupt')
  }
  for (const { pause, seq } of view.step.withdrawn) {
    const task = view.tasks.get(pause.task ?? '')
    const goesOn = task?.state === 'running' || task?.state === 'paused'
    if (pause.call === null && pause.reason === 'operator' && goesOn)
      report('INV-20', seq, "the operator's pause is withdrawn by nobody")
  }
}

export const restRule: Rule = {
  stepEnd(view, report) {
    if (view.control) return
    for (const task of view.tasks.values()) {
      barriers(view, task, report)
      if (task.state !== 'running' && task.state !== 'paused') continue
      pauses(view, task, report)
      holds(view, task, report)
    }
    open(view, report)
  },
}
