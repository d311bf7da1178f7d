import type { Judged, Rule } from '../rule.ts'

/**
 * What belongs to no session is in the control stream: revocations, disabled providers, elevated reads, user and tenant memory,
 * and every promotion (page 2, Control stream and Session memory). `audit.redaction_failed` stands where it happened. A note
 * of a session is put and removed in that session. The key of a note is a keyed digest, so one key has one digest in a session.
 */
const elsewhere: ReadonlySet<string> = new Set([
  'capability.revoked',
  'provider.disabled',
  'provider.enabled',
  'audit.elevated',
  'memory.promoted',
])
const anywhere: ReadonlySet<string> = new Set(['memory.put', 'memory.removed', 'audit.redaction_failed'])

/** INV-21: what concerns others is where its audit is; a session's log shows its own scope only. */
function place({ view, fact, report }: Judged): void {
  if (view.control) {
    if (!elsewhere.has(fact.type) && !anywhere.has(fact.type)) report('INV-21', `${fact.type} in the control stream`)
  } else if (elsewhere.has(fact.type)) report('INV-21', `${fact.type} in the log of a session`)
}

function memory({ view, fact, report }: Judged): void {
  if (fact.type === 'memory.put' || fact.type === 'memory.removed') {
    if ((fact.data.scope === 'session') === view.control)
      report('INV-21', `${fact.type} of scope ${fact.data.scope} is misplaced`)
  }
  // No command succeeds that does nothing (page 2, Operator commands).
  if (fact.type === 'memory.removed' && !view.control && !view.notes.has(fact.data.key)) {
    report('INV-24', 'a note is removed that is not there')
  }
  if (fact.type === 'memory.put' && fact.data.digest === undefined)
    report('INV-08', 'a note is put without a digest of it')
  if (fact.type !== 'memory.promoted') return
  if (fact.data.scope === 'session') report('INV-21', 'a note is promoted to its own scope')
  if (fact.data.decision === undefined) report('INV-21', 'a promotion is audited without its decision')
}

/** A closed session takes reopen, erase, acknowledge and late results, and no note (page 2, `close`). */
function closed({ view, fact, report }: Judged): void {
  if (view.lifecycle !== 'closed') return
  if (fact.type === 'memory.put' || fact.type === 'memory.removed') report('INV-02', `${fact.type} in a closed session`)
}

export const controlStreamRule: Rule = {
  fact(judged) {
    place(judged)
    memory(judged)
    closed(judged)
  },
}
