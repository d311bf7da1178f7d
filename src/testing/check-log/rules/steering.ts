import { pendingSteering, sameList, unstarted } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'
import type { SessionView } from '../session-view.ts'
import type { Report } from '../violation.ts'

/** INV-06: a steer is taken while its task is running or paused (page 2, `steer`), under a message id of its own. */
function queued({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'steering.queued') return
  if (task?.state !== 'running' && task?.state !== 'paused') {
    report('INV-06', `steering is queued for a task that is ${task?.state ?? 'not there'}`)
  }
  if (view.steering.some((steer) => steer.message === fact.data.message)) report('INV-06', 'a steer is queued twice')
}

/** All pending steering is applied together, in order (page 2, Steering 2); a request leaves none behind (Steering 3). */
function applied({ view, fact, task, report }: Judged): void {
  if (task === undefined) return
  const pending = pendingSteering(view, task.id).map((steer) => steer.message)
  if (fact.type === 'steering.applied') {
    if (fact.data.messages.length === 0 || !sameList(fact.data.messages, pending)) {
      report('INV-06', 'steering.applied is not all that is pending, in order')
    }
    if (fact.data.step !== task.answers) report('INV-06', 'steering.applied names another step than its request')
  }
  if (fact.type === 'model.requested' && fact.data.purpose === 'turn' && pending.length > 0) {
    report('INV-06', 'a turn request leaves pending steering behind')
  }
}

/** Steering pending when a foreground task ends is inherited by the next foreground task (page 2, Steering 6). */
function inherited({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'steering.inherited') return
  const held = view.steering.filter((steer) => steer.orphaned)
  const messages = held.map((steer) => steer.message)
  if (messages.length === 0 || !sameList(fact.data.messages, messages)) {
    report('INV-06', 'steering.inherited is not all that the session holds, in order')
  }
  if (held.some((steer) => steer.owner !== fact.data.from)) report('INV-06', 'steering is inherited from another task')
  if (task?.kind !== 'foreground') report('INV-06', 'steering is inherited by a task that is no turn')
}

/** Each steer ends `applied` or `expired`, once (page 2, Steering 6). */
function expired({ view, fact, report }: Judged): void {
  if (fact.type !== 'steering.expired') return
  const pending = new Set(view.steering.map((steer) => steer.message))
  if (fact.data.messages.length === 0 || fact.data.messages.some((message) => !pending.has(message))) {
    report('INV-06', 'steering expires that is not pending')
  }
}

/** `steering.applied` is in the step of the request that carries it, as user messages, in order (page 2, Steering 2). */
function carried(view: SessionView, report: Report): void {
  for (const each of view.step.applied) {
    if (!each.requested) report('INV-06', each.seq, 'steering is applied without a turn request in its step')
    if (each.unsaid.length > 0) report('INV-06', each.seq, 'applied steering is not added as user messages in order')
  }
}

function fates(view: SessionView, report: Report): void {
  const { ended, expired: gone, closing, firstSeq } = view.step
  const closes = view.lifecycle !== 'open'
  for (const { message, owner, seq } of gone) {
    if (!closes && ended.get(owner)?.expires !== true) report('INV-06', seq, `steer ${message} expires and has an heir`)
  }
  for (const steer of view.steering) {
    const end = ended.get(steer.owner)
    if (steer.orphaned && end?.expires)
      report('INV-06', end.seq, `steer ${steer.message} has no heir and does not expire`)
    // Closing expires what is left, in its own step.
    else if (steer.orphaned && closing !== null) report('INV-06', closing, 'closing leaves steering behind')
  }
  if (view.active !== null && view.steering.some((steer) => steer.orphaned)) {
    report('INV-06', firstSeq, 'the next foreground task does not inherit what the session holds')
  }
}

/** An interrupt ends every call that is not in flight, with its pause, and settles an await (page 2, Steering 7). */
function interrupts(view: SessionView, report: Report): void {
  for (const [id, seq] of view.step.interrupts) {
    const task = view.tasks.get(id)
    if (task === undefined) continue
    if ([...task.calls.values()].some(unstarted))
      report('INV-11', seq, 'a call that is not in flight outlives an interrupt')
    if (task.awaiting) report('INV-11', seq, 'an await outlives an interrupt')
  }
}

export const steeringRule: Rule = {
  fact(judged) {
    queued(judged)
    applied(judged)
    inherited(judged)
    expired(judged)
  },
  stepEnd(view, report) {
    carried(view, report)
    fates(view, report)
    interrupts(view, report)
  },
}
