import { mutates } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'

/** INV-05: while the set is not empty, `mutate` and `idempotent` calls are held (page 2, Mutation quarantine). */
function judge({ view, fact, call, report }: Judged): void {
  switch (fact.type) {
    case 'call.started':
      if (view.quarantine.size > 0 && call !== undefined && call.effect !== 'read') {
        report('INV-05', `a call of effect ${call.effect ?? 'mutate'} starts during quarantine`)
      }
      return
    case 'call.held':
      if (fact.data.reason !== 'quarantine' || call === undefined) return
      if (view.quarantine.size === 0) report('INV-05', 'a call is held for a quarantine that is empty')
      if (call.effect === 'read') report('INV-05', 'a read is held for quarantine')
      if (call.state === 'started') report('INV-05', 'a started call is held for quarantine')
      return
    case 'mutation.quarantined':
      for (const id of fact.data.calls) {
        const unknown = view.step.unknown.get(id)
        if (unknown === undefined || unknown.effect === 'read') {
          report('INV-05', `call ${id} is quarantined and did not end unknown in this step`)
        }
      }
      return
    case 'mutation.acknowledged':
      if (fact.data.calls.length === 0 || fact.data.calls.some((id) => !view.quarantine.has(id))) {
        report('INV-05', 'a call is acknowledged that is not in quarantine')
      }
      return
    default:
      return
  }
}

export const quarantineRule: Rule = {
  fact: judge,
  /** Durably, whatever the path, in the step of its `call.unknown` (page 2, Mutation quarantine). */
  stepEnd(view, report) {
    for (const [id, { seq, effect, quarantined }] of view.step.unknown) {
      if (mutates(effect) && !quarantined) report('INV-05', seq, `call ${id} ends unknown and is not quarantined`)
    }
  },
}
