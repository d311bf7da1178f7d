import { bounds } from '../bounds.ts'
import { callsInFlight, mutates, ownPause, pauseOfCall, pendingSteering } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'

/** INV-11: a call is one that the newest answer asked for, under its name (page 6, order inside a turn). */
function requested({ fact, task, report }: Judged): void {
  if (fact.type !== 'call.requested' || task === undefined) return
  const asked = task.asked?.find((each) => each.call === fact.call)
  if (asked === undefined || asked.name !== fact.data.name) {
    report('INV-11', 'a call is requested that the newest answer did not ask for')
  }
  if (task.state === 'pending' || task.state === 'paused') report('INV-11', `a call of a task that is ${task.state}`)
}

/** INV-22: a mutating call starts at most once; an attempt that `ctx.pause` ended is no start (page 2, Calls). */
function once({ fact, call, report }: Judged): void {
  if (fact.type !== 'call.started' || call === undefined) return
  const waits = call.state === 'requested' || call.state === 'held'
  if (waits && mutates(call.effect) && call.attempts > 0 && !call.pausedAttempt) {
    report('INV-22', 'a mutating call starts a second time')
  }
  if (fact.data.attempt !== call.attempts + 1) {
    report('INV-11', `attempt ${fact.data.attempt} follows ${call.attempts} attempts`)
  }
}

/** INV-11: the checks before execution that leave a trace in facts (page 3, Authority). */
function checks({ view, fact, task, call, report }: Judged): void {
  if (fact.type !== 'call.started' || task === undefined || call === undefined) return
  // What an answer asks for beyond the bound is recorded, not executed (page 3, Occupancy is not the budget).
  const most = Math.min(task.limits.callsPerTurn ?? bounds.callsPerTurn, bounds.callsPerTurn)
  if (task.tally.requested > most) report('INV-23', `more than ${most} calls in a turn`)
  if (task.state === 'pending') report('INV-11', 'a call starts before its task')
  if (call.effect === undefined) report('INV-11', 'a call of an unknown name starts')
  if (fact.data.control < view.controlVersion) report('INV-11', 'the control version goes back')
  const grant = call.capability === undefined ? undefined : task.grants.get(call.capability)
  if (grant !== undefined && grant.level !== 'execute') report('INV-11', `a call starts on a grant of ${grant.level}`)
  if (grant?.confirm === 'each' && !call.approved)
    report('INV-11', 'a call that needs a confirmation starts without it')
  if (pauseOfCall(view, call.id) !== undefined) report('INV-11', 'a call starts while its own pause is open')
  // Until an interrupt is applied nothing of that batch starts (page 2, Steering 7).
  if (pendingSteering(view, task.id).some((steer) => steer.mode === 'interrupt')) {
    report('INV-11', 'a call starts although an interrupt is pending')
  }
  if (callsInFlight(task).length >= bounds.parallelCalls) {
    report('INV-23', `more than ${bounds.parallelCalls} calls in flight`)
  }
}

/** INV-20: a pause of the task shuts starts at once; a paused task starts nothing (page 2, Pause). */
function paused({ view, fact, task, report }: Judged): void {
  const starts = /^(call\.started|model\.requested|capability\.(loaded|activated))$/.test(fact.type)
  if (!starts || task === undefined) return
  if (task.state === 'paused') report('INV-20', `${fact.type} of a paused task`)
  else if (ownPause(view, task.id) !== undefined) report('INV-20', `${fact.type} while a pause of the task is open`)
}

export const callStartRule: Rule = {
  fact(judged) {
    requested(judged)
    once(judged)
    checks(judged)
    paused(judged)
  },
}
