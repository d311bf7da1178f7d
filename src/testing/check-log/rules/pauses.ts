import { bounds } from '../bounds.ts'
import { callsInFlight, ownPause, pausesOf, shutting } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'

/** INV-20: a pause is settled once, on what it was opened for (page 2, Pause: `ALREADY_SETTLED`, `PAUSE_NOT_FOUND`). */
function tokens({ view, fact, task, report }: Judged): void {
  if (fact.type === 'pause.requested') {
    if (view.pauses.has(fact.data.token)) report('INV-20', 'a pause is requested under a token that is open')
    if (task === undefined || task.state === 'pending' || shutting(task)) {
      report('INV-20', `a pause of a task that is ${task?.state ?? 'not there'}`)
    }
    if (view.pauses.size >= bounds.openPausesPerSession) {
      report('INV-23', `more than ${bounds.openPausesPerSession} open pauses`)
    }
  }
  if (fact.type !== 'pause.settled') return
  const pause = view.pauses.get(fact.data.token)
  if (pause === undefined) report('INV-20', 'a pause is settled that is not open')
  else if (pause.task !== fact.task) report('INV-20', 'a pause is settled for another task')
}

/** A call is held by its own open pause, or by quarantine, which is no pause (page 2, Pause and Mutation quarantine). */
function holds({ view, fact, call, report }: Judged): void {
  if (fact.type !== 'call.held' || call === undefined || fact.data.reason === 'quarantine') return
  const pause = view.pauses.get(fact.data.token ?? '')
  if (pause === undefined || pause.call !== call.id || pause.reason !== fact.data.reason) {
    report('INV-20', `a call is held for ${fact.data.reason} without an open pause of its own`)
  }
}

/** `task.paused` when nothing is in flight and its own pause, or a call's and no quarantine, is what it waits for (page 2). */
function states({ view, fact, task, report }: Judged): void {
  if (task === undefined) return
  if (fact.type === 'task.paused') {
    if (callsInFlight(task).length > 0 || task.request !== null) {
      report('INV-20', 'a task is paused while something of it is in flight')
    }
    const quarantined = [...task.calls.values()].some((call) => call.state === 'held' && call.hold === 'quarantine')
    const waits = ownPause(view, task.id) !== undefined || (pausesOf(view, task.id).length > 0 && !quarantined)
    if (!waits) report('INV-20', 'a task is paused and nothing is awaited from outside')
  }
  if (fact.type === 'task.resumed' && ownPause(view, task.id) !== undefined) {
    report('INV-20', 'a task is resumed while its own pause is open')
  }
}

export const pausesRule: Rule = {
  fact(judged) {
    tokens(judged)
    holds(judged)
    states(judged)
  },
  /** Reject or timeout of a call's pause refuses the call; of the task's own it ends the task as failed (page 2, Pause). */
  stepEnd(view, report) {
    for (const { pause, seq } of view.step.denied) {
      const task = view.tasks.get(pause.task ?? '')
      if (task === undefined) continue
      if (pause.call !== null) {
        const call = task.calls.get(pause.call)
        if (call !== undefined && call.state !== 'settled') report('INV-20', seq, 'a call outlives its rejected pause')
        // A question of the planner is answered by its own tool message, whatever the answer is.
      } else if (pause.reason !== 'input' && !shutting(task)) {
        report('INV-20', seq, 'a task outlives its rejected pause')
      }
    }
  },
}
