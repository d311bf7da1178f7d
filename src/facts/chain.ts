import { createHash } from 'node:crypto'
import { canonicalText } from './canonical-text.ts'
import type { UnchainedFact } from './envelope.ts'
import { LandfallError } from './errors.ts'

/** `prev` of a session's first step. */
export const zeroHash = '0'.repeat(64)

/** The data of each fact as canonical text, for callers that need it for the body as well as for the hash. */
export function canonicalData(facts: readonly UnchainedFact[]): readonly string[] {
  return facts.map((fact) => canonicalText(fact.data))
}

/**
 * SHA-256 over the canonical JSON of `{"prev", "facts"}`. The text is built directly, envelope keys in sorted order, because a
 * generic serializer would sort the same seventeen keys for every fact.
 */
export function hashStep(prev: string, facts: readonly UnchainedFact[], data = canonicalData(facts)): string {
  return createHash('sha256')
    .update(chainText(prev, facts, data))
    .digest('hex')
}

/** The exact text that is hashed; exported so that its equality with RFC 8785 can be tested. */
export function chainText(prev: string, facts: readonly UnchainedFact[], data = canonicalData(facts)): string {
  let text = '{"facts":['
  for (let i = 0; i < facts.length; i += 1) {
    if (i > 0) text += ','
    text += factText(facts[i] as UnchainedFact, data[i] as string)
  }
  return `${text}],"prev":${JSON.stringify(prev)}}`
}

function factText(fact: UnchainedFact, data: string): string {
  const { by, owner } = fact
  return (
    `{"at":${quoted(fact.at)},"by":{"id":${quoted(by.id)},"kind":${quoted(by.kind)}},"call":${nullable(fact.call)}` +
    `,"cause":${nullable(fact.cause)},"command":${nullable(fact.command)},"data":${data},"id":${quoted(fact.id)}` +
    `,"owner":{"epoch":${whole(owner.epoch)},"id":${quoted(owner.id)}},"run":${nullable(fact.run)},"seq":${whole(fact.seq)}` +
    `,"session":${quoted(fact.session)},"step":${whole(fact.step)},"task":${nullable(fact.task)},"tenant":${quoted(fact.tenant)}` +
    `,"type":${quoted(fact.type)},"user":${quoted(fact.user)},"v":${whole(fact.v)}}`
  )
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

function nullable(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text)
}

function whole(value: number): string {
  if (!Number.isSafeInteger(value)) {
    throw new LandfallError('INTERNAL', 'A counter of a fact is not a whole number. Report this as a bug.')
  }
  return String(value)
}
