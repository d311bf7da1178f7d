import { mutates } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'
import type { CallState, CallView } from '../task-view.ts'
import type { Invariant } from '../violation.ts'

/** The edges of page 2, Calls, seen from the fact that takes them. `settled` has none. */
const onlyFrom: Readonly<Record<string, readonly CallState[]>> = {
  'call.refused': ['requested', 'held'],
  'call.held': ['requested', 'held', 'started'],
  'call.started': ['requested', 'held'],
  'call.aborting': ['started'],
  'call.interrupted': ['started'],
  'call.finished': ['started', 'aborting', 'verifying'],
  'call.cancelled': ['requested', 'held', 'started', 'aborting', 'verifying'],
  'call.unknown': ['requested', 'held', 'started', 'aborting', 'verifying'],
  'call.verifying': ['started', 'aborting'],
  'call.verified': ['verifying'],
}

function invariantOf(type: string, call: CallView): Invariant {
  const again = type === 'call.started' || type === 'call.interrupted'
  if (again && mutates(call.effect) && call.attempts > 0) return 'INV-22'
  return again || type === 'call.held' || type === 'call.refused' ? 'INV-11' : 'INV-04'
}

function edges({ fact, task, call, report }: Judged): void {
  if (!fact.type.startsWith('call.') || fact.type === 'call.late' || task === undefined) return
  if (fact.type === 'call.requested') {
    if (call !== undefined) report('INV-11', `call ${call.id} is requested twice`)
    return
  }
  if (call === undefined) {
    report('INV-11', `${fact.type} of a call that was never requested`)
    return
  }
  const from = onlyFrom[fact.type]
  if (from !== undefined && !from.includes(call.state)) {
    report(invariantOf(fact.type, call), `${fact.type} of a call that is ${call.state}`)
  }
}

/** `cancelled (before_start)` if no attempt was made; the other ways to be cancelled (page 2, Cancellation barrier 1 and 3). */
function cancellation({ fact, call, report }: Judged): void {
  if (fact.type !== 'call.cancelled' || call === undefined) return
  const { when } = fact.data
  const waits = call.state === 'requested' || call.state === 'held'
  if (when === 'before_start' || when === 'withdrawn') {
    if (!waits || call.interrupted) report('INV-04', `a call that was attempted is cancelled as ${when}`)
  } else if (when === 'acknowledged') {
    if (waits) report('INV-04', 'a call that is not in flight acknowledges an abort')
  } else {
    if (call.effect !== 'read') report('INV-22', 'only a read is cancelled as interrupted: its effect does not matter')
    if (waits && !call.interrupted) report('INV-04', 'a call without a lost attempt is cancelled as interrupted')
  }
}

/** Attempts that are lost: tried again only for a read or an idempotent call, else unknown (page 2, Calls). */
function lost({ fact, call, report }: Judged): void {
  if (call === undefined) return
  if (fact.type === 'call.interrupted') {
    if (mutates(call.effect)) report('INV-22', 'a mutating call is interrupted to be tried again')
    if (fact.data.attempt !== call.attempts)
      report('INV-11', `attempt ${fact.data.attempt} is interrupted and never ran`)
  }
  const waits = call.state === 'requested' || call.state === 'held'
  if (fact.type === 'call.unknown' && waits && !(call.interrupted && call.effect === 'idempotent')) {
    report('INV-04', 'a call without a lost attempt ends unknown')
  }
  // An interrupted idempotent call that is refused when checked again ends `unknown`.
  if (fact.type === 'call.refused' && call.interrupted && call.effect === 'idempotent') {
    report('INV-04', 'an interrupted idempotent call is refused')
  }
}

/** `call.verifying`, then `call.verified` and the outcome it names (page 2, Calls; page 6, Catalogue). */
function verification({ fact, task, call, report }: Judged): void {
  if (call === undefined) return
  if (fact.type === 'call.aborting' && fact.data.reason === 'cancel' && task?.barrier === null) {
    report('INV-04', 'a call is aborted by a cancel that its task does not know')
  }
  if (fact.type === 'call.verifying' && !mutates(call.effect))
    report('INV-04', 'a call that does not mutate is verified')
  if (fact.type === 'call.verified' && call.verified !== null) report('INV-04', 'a call is verified twice')
  if (call.verified === null || call.state !== 'verifying') return
  const outcome = outcomeOf(fact.type, fact.type === 'call.finished' ? fact.data.outcome : undefined)
  if (outcome !== undefined && outcome !== call.verified)
    report('INV-04', `a call verified ${call.verified} ends ${outcome}`)
}

function outcomeOf(type: string, finished: string | undefined): string | undefined {
  if (type === 'call.unknown') return 'unknown'
  return type === 'call.cancelled' ? 'cancelled' : finished
}

/** INV-04: a result that arrives after the outcome is `call.late`, once (page 2, Cancellation barrier 6). */
function late({ view, fact, report }: Judged): void {
  if (fact.type !== 'call.late' || fact.call === null) return
  if (!view.lateable.has(fact.call)) report('INV-04', 'a late result of a call that did not end without it')
}

export const callEdgesRule: Rule = {
  fact(judged) {
    edges(judged)
    cancellation(judged)
    lost(judged)
    verification(judged)
    late(judged)
  },
}
