import type { MemoryScope } from '../../machines/vocabulary.ts'
import { canonicalJson } from '../facts/digest.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Limits } from '../facts/limits.ts'
import { isPlainJson } from './plain-json.ts'

type Bounds = Pick<Limits, 'memoryKeyChars' | 'memoryValueBytes'>

/** The key of a note. It is content as much as the value: it is in no message and no detail of an error. */
export function checkedKey(bounds: Bounds, key: unknown): string {
  if (typeof key !== 'string' || key === '')
    throw invalid('key', 'A note is kept under a key: a text that is not empty.')
  if (/\p{Surrogate}|\p{Cc}/u.test(key))
    throw invalid('key', 'The key of a note holds control characters or half of a character. Use plain text.')
  const bound = bounds.memoryKeyChars
  if (key.length <= bound) return key
  throw exceeded('memoryKeyChars', bound, key.length, 'The key of a note is longer than its bound. Use a shorter one.')
}

/** A value as it is stored: its canonical JSON. */
export function noteBody(bounds: Bounds, value: unknown): string {
  const body = textOf(value)
  const got = Buffer.byteLength(body)
  const bound = bounds.memoryValueBytes
  if (got <= bound) return body
  throw exceeded('memoryValueBytes', bound, got, 'The value of a note is larger than its bound. Keep less.')
}

function textOf(value: unknown): string {
  try {
    if (isPlainJson(value)) return canonicalJson(value)
  } catch {
    // Nested deeper than can be walked, or not plain data.
  }
  throw invalid(
    'value',
    'The value of a note is plain JSON: null, booleans, numbers, texts, lists and records of these.',
  )
}

export function checkedMemoryScope(scope: unknown): MemoryScope {
  if (scope === 'session' || scope === 'user' || scope === 'tenant') return scope
  throw invalid('scope', 'The scope of a memory is session, user or tenant.')
}

function invalid(field: string, message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field } })
}

function exceeded(which: string, bound: number, got: number, message: string): LandfallError {
  return new LandfallError('LIMIT_EXCEEDED', message, { details: { which, bound, got } })
}
