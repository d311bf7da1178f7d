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
      view.restoring = false
      view.restored = true
      view.unanswered = []
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
    case 'command.accepted':
      view.commands.add(fact.data.command)
      view.step.accepted = { seq: fact.seq, result: fact.data.result }
      return
    case 'memory.put':
      view.notes.add(fact.data.key)
      return
    case 'memory.removed':
      view.notes.delete(fact.data.key)
      return
    default:
      return
  }
}

/** Revocations and disabled providers are facts of the control stream (page 3, Catalog and snapshot). */
export function foldStore({ store, control }: SessionView, fact: StoredFact): void {
  if (!control) return
  if (fact.type === 'capability.revoked' && !store.revoked.has(fact.data.id)) {
    store.revoked.set(fact.data.id, fact.cursor)
  }
  if (fact.type === 'provider.disabled') {
    const spans = store.disabled.get(fact.data.id) ?? []
    if (spans.at(-1)?.until !== null) store.disabled.set(fact.data.id, [...spans, { from: fact.cursor, until: null }])
  }
  const open = fact.type === 'provider.enabled' ? store.disabled.get(fact.data.id)?.at(-1) : undefined
  if (open !== undefined) open.until ??= fact.cursor
}
