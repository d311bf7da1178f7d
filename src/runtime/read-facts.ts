import { unpackStep } from '../facts/codec.ts'
import type { StoredFact } from '../facts/envelope.ts'
import type { Log } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'

const stepsPerPage = 256

/** Facts of a session in order, a page of the store at a time. */
export async function* factsOf(log: Log, scope: Scope, after = 0): AsyncGenerator<StoredFact> {
  let at = after
  for (;;) {
    const steps = await log.read(scope, { after: at, limit: stepsPerPage })
    for (const step of steps) {
      for (const fact of unpackStep(step)) if (fact.seq > after) yield fact
      at = step.firstSeq + step.count - 1
    }
    // A page may be short because a record is missing; only an empty one is the end.
    if (steps.length === 0) return
  }
}

export async function readFacts(
  log: Log,
  scope: Scope,
  page: { after?: number; limit?: number },
): Promise<readonly StoredFact[]> {
  const { after = 0, limit = Number.POSITIVE_INFINITY } = page
  const facts: StoredFact[] = []
  if (limit < 1) return facts
  for await (const fact of factsOf(log, scope, after)) {
    facts.push(fact)
    if (facts.length >= limit) break
  }
  return facts
}
