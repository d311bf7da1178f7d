import type { Redactor } from '../facts/ports.ts'
import { redacted, withoutCredentials } from './credential-patterns.ts'
import { isSecretName } from './key-names.ts'

/** Deeper data is refused by a throw; the caller then withholds the whole field. */
const deepest = 200

function errorFields(error: Error): Record<string, unknown> {
  const fields = { ...error, name: error.name, message: error.message, stack: error.stack, cause: error.cause }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Plain data that stands for an object that is none. */
function plainForm(value: object): unknown {
  if (value instanceof Error) return errorFields(value)
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), item]))
  if (value instanceof Set) return [...value]
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return redacted
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value) : value
}

function hidden(value: unknown): unknown {
  const harmless = value === null || value === undefined || typeof value === 'boolean' || value === ''
  return harmless ? value : redacted
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutCredentials(value)
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth > deepest) throw new Error(`data deeper than ${deepest} levels cannot be redacted`)
  const plain = plainForm(value)
  if (typeof plain !== 'object' || plain === null) return clean(plain, depth + 1)
  if (Array.isArray(plain)) return plain.map((item) => clean(item, depth + 1))
  const entries = Object.entries(plain).map(([key, item]) => [
    withoutCredentials(key),
    isSecretName(key) ? hidden(item) : clean(item, depth + 1),
  ])
  return Object.fromEntries(entries)
}

/**
 * Takes credentials out of text by their form, and out of data also by the names of fields. The same input gives the same
 * output, redacting twice is redacting once, and the input is left as it was.
 */
export function defaultRedactor(): Redactor {
  return { name: 'default', text: withoutCredentials, value: (value) => clean(value, 0) }
}
