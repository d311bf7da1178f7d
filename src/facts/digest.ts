import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Digest } from '../../machines/vocabulary.ts'
import { canonicalText } from './canonical-text.ts'

/** Canonical JSON (RFC 8785) of plain data from outside: strings are made well-formed, `undefined` members are left out. */
export function canonicalJson(value: unknown): string {
  const text = canonicalText(value)
  // A lone surrogate can only be printed as an escape; well-formed text never needs one of these.
  return /\\ud[89a-f]/.test(text) ? canonicalText(wellFormed(value)) : text
}

/** `hmac-sha256:<hex>` of raw text, or of the canonical JSON of a value, under a session's key (hex). */
export function keyedDigest(key: string, content: unknown): Digest {
  const text = typeof content === 'string' ? wellFormedText(content) : canonicalJson(content)
  return `hmac-sha256:${createHmac('sha256', keyObject(key)).update(text).digest('hex')}`
}

/** `sha256:<hex>` of what is no secret: contracts and manifests. Made once for each capability, by the library itself. */
export function contractDigest(value: unknown): string {
  return `sha256:${createHash('sha256')
    .update(serialized(wellFormed(value)))
    .digest('hex')}`
}

/** The package is CommonJS whose types promise an ES default export, so it is known by what it is. */
const serialize: unknown = canonicalize

function serialized(value: unknown): string {
  if (typeof serialize !== 'function') throw new TypeError('the canonicalize package is not what it was')
  const text: unknown = serialize(value)
  if (typeof text !== 'string') throw new TypeError(`canonical JSON has no form for a ${typeof value}`)
  return text
}

export function wellFormedText(text: string): string {
  return /\p{Surrogate}/u.test(text) ? text.replace(/\p{Surrogate}/gu, '\ufffd') : text
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return wellFormedText(value)
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormedText(key), wellFormed(item)]))
}

/** Making a key object costs as much as a digest, and the sessions of a busy process take turns. */
const keyObjectsMax = 1_024
const keyObjects = new Map<string, KeyObject>()

function keyObject(hex: string): KeyObject {
  const known = keyObjects.get(hex)
  if (known !== undefined) return known
  if (keyObjects.size >= keyObjectsMax) keyObjects.clear()
  const object = createSecretKey(hex, 'hex')
  keyObjects.set(hex, object)
  return object
}
