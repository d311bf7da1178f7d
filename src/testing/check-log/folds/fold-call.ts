import type { StoredFact } from '../../../facts/envelope.ts'
import { inFlight, mutates } from '../questions.ts'
import type { SessionView } from '../session-view.ts'
import type { CallView, TaskView } from '../task-view.ts'

function request(task: TaskView, fact: StoredFact & { type: 'call.requested' }): void {
  if (fact.call === null) return
  task.tally.requested += 1
  task.calls.set(fact.call, {
    id: fact.call,
    name: fact.data.name,
    effect: fact.data.effect,
    capability: fact.data.ref?.id,
    ref: fact.data.ref,
    arguments: fact.data.arguments,
    state: 'requested',
    hold: null,
    token: null,
    attempts: 0,
    pausedAttempt: false,
    interrupted: false,
    approved: false,
    verified: null,
    setback: null,
  })
}

function finish(task: TaskView, call: CallView, outcome: 'succeeded' | 'failed'): void {
  call.state = 'settled'
  if (outcome === 'failed') task.tally.failed += 1
  else if (mutates(call.effect)) task.tally.succeededMutating += 1
}

function loseSight(view: SessionView, task: TaskView, call: CallView, seq: number): void {
  call.state = 'settled'
  view.lateable.add(call.id)
  view.step.unknown.set(call.id, { seq, effect: call.effect, quarantined: false })
  if (mutates(call.effect)) task.tally.unknownMutating += 1
}

function cancel(view: SessionView, task: TaskView, call: CallView): void {
  if (inFlight(call)) view.lateable.add(call.id)
  call.state = 'settled'
  task.tally.cancelled += 1
}

function move(task: TaskView, call: CallView, fact: StoredFact): void {
  switch (fact.type) {
    case 'call.refused':
      call.state = 'settled'
      task.tally.refused += 1
      return
    case 'call.held':
      if (inFlight(call)) call.pausedAttempt = true
      call.state = 'held'
      call.hold = fact.data.reason
      call.token = fact.data.token ?? null
      return
    case 'call.started':
      call.state = 'started'
      call.attempts += 1
      call.pausedAttempt = false
      call.hold = null
      return
    case 'call.interrupted':
      call.state = 'requested'
      call.interrupted = true
      return
    case 'call.aborting':
      call.state = 'aborting'
      return
    case 'call.verifying':
      call.state = 'verifying'
      return
    case 'call.verified':
      call.verified = fact.data.outcome
      return
    default:
      return
  }
}

export function foldCall(view: SessionView, fact: StoredFact): void {
  if (fact.call === null || !fact.type.startsWith('call.')) return
  if (fact.type === 'call.late') view.lateable.delete(fact.call)
  if (fact.type === 'call.started') view.controlVersion = Math.max(view.controlVersion, fact.data.control)
  const task = fact.task === null ? undefined : view.tasks.get(fact.task)
  if (task === undefined) return
  if (fact.type === 'call.requested') request(task, fact)
  const call = task.calls.get(fact.call)
  if (call === undefined || call.state === 'settled') return
  setBack(call, fact)
  if (fact.type === 'call.finished') finish(task, call, fact.data.outcome)
  else if (fact.type === 'call.unknown') loseSight(view, task, call, fact.seq)
  else if (fact.type === 'call.cancelled') cancel(view, task, call)
  else move(task, call, fact)
  if (settledNow(call)) task.settled.push(call.id)
}

function settledNow(call: CallView): boolean {
  return call.state === 'settled'
}

/** Identical ignores call id and key order; the digest of the arguments knows neither (page 2, Calls). */
function setBack(call: CallView, fact: StoredFact): void {
  const which = `${call.name} ${call.arguments}`
  if (fact.type === 'call.refused') call.setback = `denied ${fact.data.code} ${which}`
  else if (fact.type === 'call.finished' && fact.data.outcome === 'failed') {
    call.setback = `failed ${fact.data.code ?? ''} ${fact.data.digest} ${which}`
  }
}

export function foldPause(view: SessionView, fact: StoredFact): void {
  if (fact.type === 'pause.requested') {
    const { token, reason } = fact.data
    view.pauses.set(token, { token, reason, task: fact.task, call: fact.call })
    return
  }
  if (fact.type !== 'pause.settled') return
  const { token, decision } = fact.data
  const pause = view.pauses.get(token)
  view.pauses.delete(token)
  if (pause === undefined) return
  if (decision === 'withdrawn') view.step.withdrawn.push({ pause, seq: fact.seq })
  if (decision === 'reject' || decision === 'timeout') view.step.denied.push({ pause, seq: fact.seq })
  const task = pause.task === null ? undefined : view.tasks.get(pause.task)
  const call = pause.call === null ? undefined : task?.calls.get(pause.call)
  if (call === undefined || (decision !== 'approve' && decision !== 'resume')) return
  call.approved = true
  if (call.capability !== undefined) task?.confirmed.add(call.capability)
}
