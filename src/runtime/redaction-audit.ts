import { type Draft, terminalTypes } from '../../machines/facts.ts'
import type { UnchainedFact } from '../facts/envelope.ts'
import { withheld } from './free-text.ts'

type Audit = Draft<'audit.redaction_failed'>

/** Fields of facts that hold free text. */
const freeFields = ['reason', 'title', 'note', 'phase', 'subject'] as const

/**
 * What stands directly behind a fact in which something was withheld: found by the mark that stands there, also when the text
 * was withheld in an earlier step, and told by `others` where another value took its place. Nothing may name a task that has
 * ended, so the audit of a terminal names none.
 */
export function auditsOf(fact: UnchainedFact, others: readonly string[]): readonly Audit[] {
  const fields = [...freeFields.filter((field) => Reflect.get(fact.data, field) === withheld), ...others]
  if (fields.length === 0) return []
  const ended = terminalTypes.some((type) => type === fact.type)
  const about = ended ? {} : { task: fact.task, call: fact.call }
  return fields.map((field) => ({ type: 'audit.redaction_failed', ...about, data: { type: fact.type, field } }))
}
