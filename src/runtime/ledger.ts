import type { FactOf } from '../../machines/facts.ts'
import type { Actor, Digest, Effect, Grant, JsonObject, PauseToken } from '../../machines/vocabulary.ts'
import type { StoredFact } from '../facts/envelope.ts'
import type { Log } from '../facts/log-port.ts'
import { controlScope, type Scope } from '../facts/scope.ts'
import { factsOf } from './read-facts.ts'

interface At {
  /** seq in the session; of an elevated read, in the control stream. */
  readonly seq: number
  readonly at: string
  readonly task: string | null
  readonly call: string | null
  readonly by: Actor
}

/** What happened, in names, states and digests. `evidence` is a digest of content; the hash of a step vouches for the rest. */
export type LedgerEntry = At &
  (
    | { readonly kind: 'call'; readonly name: string; readonly effect: Effect | null; readonly evidence: Digest }
    | { readonly kind: 'attempt'; readonly attempt: number }
    | {
        readonly kind: 'outcome'
        readonly outcome: 'succeeded' | 'failed' | 'refused' | 'cancelled' | 'unknown'
        readonly code?: string
        readonly evidence?: Digest
      }
    | { readonly kind: 'late'; readonly outcome: 'succeeded' | 'failed'; readonly evidence: Digest }
    | { readonly kind: 'verification'; readonly outcome: string; readonly evidence?: Digest }
    | { readonly kind: 'grant_reduction'; readonly id: string; readonly before: Grant; readonly after: Grant }
    | { readonly kind: 'confirmation'; readonly decision: string; readonly evidence?: Digest }
    | { readonly kind: 'cancellation'; readonly status: string; readonly reason: string }
    | { readonly kind: 'quarantine'; readonly calls: readonly string[] }
    | { readonly kind: 'acknowledgement'; readonly calls: readonly string[] }
    | { readonly kind: 'restore'; readonly evidence: Digest; readonly quarantined: readonly string[] }
    | { readonly kind: 'elevated_read'; readonly actor: string; readonly surface: string; readonly filter: JsonObject }
  )

type Told = LedgerEntry extends infer E ? (E extends At ? Omit<E, keyof At> : never) : never

/** Owns: which pauses of the session are confirmations, while its facts pass by once. */
class Ledger {
  readonly #confirmations = new Set<PauseToken>()

  of(fact: StoredFact): LedgerEntry | null {
    if (fact.type === 'pause.requested' && fact.data.reason === 'approval') this.#confirmations.add(fact.data.token)
    const told = this.#decision(fact) ?? ofCall(fact) ?? ofSession(fact)
    return told === null ? null : entry(fact, told)
  }

  #decision(fact: StoredFact): Told | null {
    if (fact.type !== 'pause.settled' || !this.#confirmations.delete(fact.data.token)) return null
    const { decision, input } = fact.data
    return { kind: 'confirmation', decision, ...(input === undefined ? {} : { evidence: input }) }
  }
}

function entry({ seq, at, task, call, by }: StoredFact, told: Told): LedgerEntry {
  return { seq, at, task, call, by, ...told }
}

function ofCall(fact: StoredFact): Told | null {
  switch (fact.type) {
    case 'call.requested': {
      const { name, effect = null, arguments: evidence } = fact.data
      return { kind: 'call', name, effect, evidence }
    }
    case 'call.started':
      return { kind: 'attempt', attempt: fact.data.attempt }
    case 'call.finished': {
      const { outcome, digest: evidence, code } = fact.data
      return { kind: 'outcome', outcome, ...(code === undefined ? {} : { code }), evidence }
    }
    case 'call.refused':
      return { kind: 'outcome', outcome: 'refused', code: fact.data.code }
    case 'call.cancelled':
      return { kind: 'outcome', outcome: 'cancelled', code: fact.data.when }
    case 'call.unknown':
      return { kind: 'outcome', outcome: 'unknown', code: fact.data.reason }
    case 'call.late':
      return { kind: 'late', outcome: fact.data.outcome, evidence: fact.data.digest }
    case 'call.verified': {
      const { outcome, digest } = fact.data
      return { kind: 'verification', outcome, ...(digest === undefined ? {} : { evidence: digest }) }
    }
    default:
      return null
  }
}

function ofSession(fact: StoredFact): Told | null {
  switch (fact.type) {
    case 'grant.reduced':
      return { kind: 'grant_reduction', ...fact.data }
    case 'task.cancelling':
      return { kind: 'cancellation', status: fact.data.status, reason: fact.data.reason }
    case 'task.cancelled':
    case 'task.superseded':
      // With a run it went through a barrier, and that is where it was cancelled.
      return fact.run === null
        ? { kind: 'cancellation', status: fact.type.slice('task.'.length), reason: fact.data.reason ?? '' }
        : null
    case 'mutation.quarantined':
      return { kind: 'quarantine', calls: fact.data.calls }
    case 'mutation.acknowledged':
      return { kind: 'acknowledgement', calls: fact.data.calls }
    case 'session.restored':
      return { kind: 'restore', evidence: fact.data.from, quarantined: fact.data.quarantined }
    default:
      return null
  }
}

/** Everything of one session; elevated reads that reached it stand behind, since they are in a stream of their own. */
export async function readLedger(
  log: Log,
  scope: Scope,
  page: { readonly after?: number; readonly limit?: number } = {},
): Promise<readonly LedgerEntry[]> {
  const { after = 0, limit = Number.POSITIVE_INFINITY } = page
  const ledger = new Ledger()
  const entries: LedgerEntry[] = []
  let opened: string | null = null
  for await (const fact of factsOf(log, scope)) {
    opened ??= fact.at
    const found = ledger.of(fact)
    if (found !== null && found.seq > after) entries.push(found)
    if (entries.length >= limit) return entries
  }
  if (opened === null) return entries
  for (const read of await elevatedReads(log, scope, opened)) {
    if (entries.length >= limit) break
    entries.push(read)
  }
  return entries
}

/** Reads with an elevated claim that could see the session, since it was opened. */
async function elevatedReads(log: Log, scope: Scope, since: string): Promise<readonly LedgerEntry[]> {
  const found: LedgerEntry[] = []
  for await (const fact of factsOf(log, controlScope))
    if (fact.type === 'audit.elevated' && reaches(fact, scope, since))
      found.push(entry(fact, { kind: 'elevated_read', ...fact.data }))
  return found
}

/** A listing from before the session was opened did not see it; whoever named it, to bring it here, did. */
function reaches({ data, at }: FactOf<'audit.elevated'>, scope: Scope, since: string): boolean {
  const { filter } = data
  if (at < since && filter.session === undefined) return false
  return (['tenant', 'user', 'session'] as const).every((part) => (filter[part] ?? scope[part]) === scope[part])
}
