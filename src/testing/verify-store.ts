/**
 * Verifies a store from its records alone: facts, content and heads. It reads only, one session after the other, and never
 * throws for what is damaged: damage is a violation that names its session and seq.
 *
 * What is judged, and under which invariant it is reported:
 * - INV-07, INV-09: seq, step and chain of every record; the head of a session against its last record; the number of sessions
 *   that the store counts against the heads that are there, so that a whole session taken away is found too.
 * - INV-08: the fold of the log through the charts; a fact that a chart refuses.
 * - INV-14: what a model request rests on: content that is missing or is not what its digest says, and the digest of every
 *   request, built again.
 * - The others: everything that `checkLog` sees in facts.
 *
 * An unkeyed chain does not stop somebody who can rewrite the whole file. Heads that were kept elsewhere do: give them as `heads`.
 */
import type { Log } from '../facts/log-port.ts'
import { type Scope, scopeKey } from '../facts/scope.ts'
import type { StoreViolation } from './verify-store/findings.ts'
import { countedSessions, listSessions, type SessionFilter, sessionsOfSteps } from './verify-store/session-list.ts'
import type { KeptHead, SessionVerdict } from './verify-store/verdict.ts'
import { verifySession } from './verify-store/verify-session.ts'

export interface VerifyOptions {
  /** Heads that were kept outside the store. */
  readonly heads?: readonly KeptHead[]
}

/** What belongs to no session that can be named. Ids that begin with `_` are refused from users. */
const storeScope: Scope = { tenant: '_store', user: '_store', session: '_store' }

/** One verdict a session, and one more for the store when something is wrong that no session can be named for. */
export async function* verifyStore(
  log: Log,
  filter: SessionFilter = {},
  options: VerifyOptions = {},
): AsyncGenerator<SessionVerdict> {
  const kept = new Map(
    (options.heads ?? []).filter((head) => covers(filter, head)).map((head) => [scopeKey(head), head]),
  )
  const seen = new Set<string>()
  const judge = async (scope: Scope): Promise<SessionVerdict> => {
    const key = scopeKey(scope)
    seen.add(key)
    const expected = kept.get(key)
    return verifySession(log, scope, expected ?? null)
  }
  const listed = await listSessions(log)
  for (const scope of listed.scopes) if (covers(filter, scope)) yield await judge(scope)
  const counted = await countedSessions(log, listed)
  const problems = [...listed.problems, ...counted.problems]
  if (counted.problems.length > 0)
    for await (const scope of sessionsOfSteps(log))
      if (!seen.has(scopeKey(scope)) && covers(filter, scope)) yield await judge(scope)
  for (const [key, head] of kept) if (!seen.has(key)) yield await judge(head)
  if (problems.length > 0) yield ofStore(problems)
}

function covers(filter: SessionFilter, scope: Scope): boolean {
  return (['tenant', 'user', 'session'] as const).every((name) => (filter[name] ?? scope[name]) === scope[name])
}

function ofStore(problems: readonly string[]): SessionVerdict {
  const violations = problems.map((message): StoreViolation => ({ seq: 0, invariant: 'INV-09', message }))
  return { ok: false, ...storeScope, facts: 0, requests: 0, head: '', violations }
}
