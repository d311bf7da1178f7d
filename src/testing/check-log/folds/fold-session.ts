import type { StoredFact } from '../../../facts/envelope.ts'
import type { SessionView } from '../session-view.ts'

export function foldSession(view: SessionView, fact: StoredFact): void {
  switch (fact.type) {
    case 'session.opened':
    case 'session.reopened':
      view.lifecycle = 'open'
      return
    case 'session.restored':
      view.used += fact.data.usage.total
      for (const call of fact.data.quarantined) view.quarantine.add(call)
      return
    case 'session.closing':
      view.lifecycle = 'closing'
      view.closingThen = fact.data.then
      view.step.closing = fact.seq
      return
    case 'session.closed':
      view.lifecycle = 'closed'
      return
    case 'session.erased':
      view.lifecycle = 'erased'
      return
    default:
      return
  }
}

export function foldShared(view: SessionView, fact: StoredFact): void {
  switch (fact.type) {
    case 'group.created':
      view.groups.set(fact.data.group, { sealed: false, living: new Set() })
      return
    case 'group.sealed': {
      const group = view.groups.get(fact.data.group)
      if (group !== undefined) group.sealed = true
      return
    }
    case 'group.resolved':
    case 'group.cancelled':
      view.groups.delete(fact.data.group)
      return
    case 'mutation.quarantined':
      for (const call of fact.data.calls) {
        view.quarantine.add(call)
        const unknown = view.step.unknown.get(call)
        if (unknown !== undefined) unknown.quarantined = true
      }
      return
    case 'mutation.acknowledged':
      for (const call of fact.data.calls) view.quarantine.delete(call)
      return
    case 'result.offered':
      view.offered.add(fact.data.from)
      return
    default:
      return
  }
}
