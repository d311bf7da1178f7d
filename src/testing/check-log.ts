/**
 * A pure, streaming checker of everything that can be seen in facts. It was written from the published rules and imports
 * no chart, so that it does not share a misreading with them. Its memory grows with what lives (tasks, calls, pauses,
 * pending steering, notes), and beyond that by little each: per session an ended task with its place in the tree, an offered
 * result, a keyed spawn, a named command, a group, a call whose result never came; per store a revocation; and by the
 * violations found.
 *
 * Where the published rules can be read in several ways, the file of the rule says which readings it accepts.
 *
 * Records removed at the end of a session cannot be seen in facts; the heads of the log show those.
 */
import type { StoredFact } from '../facts/envelope.ts'
import { scopeKey } from '../facts/scope.ts'
import { createSessionChecker, type SessionChecker } from './check-log/session-checker.ts'
import { emptyStore } from './check-log/store-view.ts'
import type { Violation } from './check-log/violation.ts'

export interface CheckResult {
  readonly facts: number
  readonly violations: readonly Violation[]
}

export interface LogCheckerOptions {
  /** `cursor` when the facts of all sessions come as the bus has them: then cursors increase over sessions too. */
  readonly order?: 'cursor' | 'session'
}

export interface LogChecker {
  /** One fact of any session; facts of one session come in the order of their seq. */
  push(fact: StoredFact): void
  /** Judges the last step of each session. Call it once, after the last fact. */
  end(): CheckResult
}

export function createLogChecker(options: LogCheckerOptions = {}): LogChecker {
  const sessions = new Map<string, SessionChecker>()
  const store = emptyStore()
  const violations: Violation[] = []
  let facts = 0
  let lastCursor = -1

  const open = (fact: StoredFact): SessionChecker => {
    const key = scopeKey(fact)
    const known = sessions.get(key)
    if (known !== undefined) return known
    const { session } = fact
    const checker = createSessionChecker(fact, store, (invariant, seq, message) => {
      violations.push({ invariant, seq, session, message })
    })
    sessions.set(key, checker)
    return checker
  }

  return {
    push(fact) {
      facts += 1
      if (options.order === 'cursor' && !(fact.cursor > lastCursor)) {
        const message = `cursor ${fact.cursor} does not follow ${lastCursor} of the store`
        violations.push({ invariant: 'INV-07', seq: fact.seq, session: fact.session, message })
      }
      lastCursor = fact.cursor
      open(fact).push(fact)
    },
    end() {
      for (const checker of sessions.values()) checker.end()
      return { facts, violations }
    },
  }
}

async function checkStream(facts: AsyncIterable<StoredFact>): Promise<CheckResult> {
  const checker = createLogChecker()
  for await (const fact of facts) checker.push(fact)
  return checker.end()
}

export function checkLog(facts: Iterable<StoredFact>): CheckResult
export function checkLog(facts: AsyncIterable<StoredFact>): Promise<CheckResult>
export function checkLog(facts: Iterable<StoredFact> | AsyncIterable<StoredFact>): CheckResult | Promise<CheckResult> {
  if (Symbol.asyncIterator in facts) return checkStream(facts)
  const checker = createLogChecker()
  for (const fact of facts) checker.push(fact)
  return checker.end()
}
