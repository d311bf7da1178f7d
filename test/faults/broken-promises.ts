import type { StoredFact } from '../../src/facts/envelope.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import type { Left } from './kills.ts'

const ends: ReadonlySet<string> = new Set(['task.completed', 'task.failed', 'task.cancelled', 'task.superseded'])

/** Everything that a store, and the world around it, must not show after its processes were killed and its sessions closed. */
export function brokenPromises(left: Left): readonly string[] {
  const sessions = [...left.facts]
  return [
    ...left.broken.map((line) => `a worker has met ${JSON.stringify(line)}`),
    ...doneTwice(left),
    ...sessions.flatMap(([session, facts]) => unended(facts).map((problem) => `${session}: ${problem}`)),
    ...sessions.flatMap(([session, facts]) =>
      checkLog(facts).violations.map(({ invariant, seq, message }) => `${session}: ${invariant} at ${seq}: ${message}`),
    ),
    ...left.receipts.flatMap((line) => unkept(line, left.facts.get(line.session) ?? [])),
  ]
}

/** INV-22, seen from outside: the change itself, not the fact about it. */
function doneTwice({ effects }: Left): readonly string[] {
  const changes = effects.filter(({ name }) => name === 'order').map(({ call }) => call)
  return changes.filter((call, at) => changes.indexOf(call) !== at).map((call) => `${call} was done twice`)
}

/** INV-02 and INV-06: every task has its end, every steer its fate. */
function unended(facts: readonly StoredFact[]): readonly string[] {
  const open = new Set<string>()
  for (const fact of facts) {
    if (fact.type === 'task.created' && fact.task !== null) open.add(`task ${fact.task}`)
    else if (ends.has(fact.type)) open.delete(`task ${fact.task}`)
    else if (fact.type === 'steering.queued') open.add(`steer ${fact.data.message}`)
    else if (fact.type === 'steering.applied' || fact.type === 'steering.expired')
      for (const message of fact.data.messages) open.delete(`steer ${message}`)
  }
  return [...open].map((what) => `${what} has no end`)
}

/** INV-24: what came back as done stands in the log, under the command's id. */
function unkept({ id, receipt }: Left['receipts'][number], facts: readonly StoredFact[]): readonly string[] {
  const first = facts[(receipt.seq ?? 0) - 1]
  const kept = facts.some(
    (fact) => fact.step === first?.step && fact.type === 'command.accepted' && fact.data.command === id,
  )
  return kept ? [] : [`the receipt of ${id} is not in the log`]
}
