import { bounds } from '../bounds.ts'
import { callsInFlight, ownPause, pauseOfCall, pausesOf, shutting } from '../questions.ts'
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

const ofCalls: ReadonlySet<string> = new Set(['approval', 'authorization', 'input', 'external'])

/** Who may ask for what: a tool for its call, the planner by `operator_ask`, the operator and the quarantine for the task. */
function askedFor({ view, fact, task, call, report }: Judged): void {
  if (fact.type !== 'pause.requested' || task === undefined) return
  const { reason } = fact.data
  if (fact.call === null) {
    if (reason === 'approval' || reason === 'authorization') report('INV-20', `a pause for ${reason} without a call`)
    // A second own pause joins the first.
    if (ownPause(view, task.id) !== undefined) report('INV-20', 'a second pause of the task is opened beside the first')
    const asks = task.asked?.some((each) => each.name === 'operator_ask' && task.unanswered.includes(each.call))
    if (reason === 'input' && asks !== true) report('INV-20', 'a question that the planner did not ask')
    return
  }
  if (!ofCalls.has(reason)) report('INV-20', `a pause of a call for ${reason}`)
  if (call === undefined || call.state === 'settled') report('INV-20', 'a pause of a call that is not there')
  else if (pauseOfCall(view, call.id) !== undefined) report('INV-20', 'a second pause of one call')
}

/** `reject` or `timeout` of a call's pause is `call.refused` with that code, and nothing else is (page 2, Pause). */
function refusals({ view, fact, report }: Judged): void {
  if (fact.type !== 'call.refused' || !/^PAUSE_(REJECTED|TIMEOUT)$/.test(fact.data.code)) return
  if (!view.step.denied.some(({ pause }) => pause.call === fact.call))
    report('INV-20', `${fact.data.code} without a decision`)
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
    const reasons = new Set(pausesOf(view, task.id).map(({ reason }) => reason))
    const { reasons: told } = fact.data
    if (told.length === 0 || told.some((reason) => !reasons.has(reason)))
      report('INV-20', 'a task is paused for reasons that are not there')
  }
  if (fact.type === 'task.resumed' && ownPause(view, task.id) !== undefined) {
    report('INV-20', 'a task is resumed while its own pause is open')
  }
}

export const pausesRule: Rule = {
  fact(judged) {
    tokens(judged)
    askedFor(judged)
    refusals(judged)
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
