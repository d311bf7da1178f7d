/**
 * Canonical JSON (RFC 8785) of plain data: keys sorted by UTF-16 code units, numbers and strings as ECMAScript prints them.
 * Every step is hashed through this, so it is written for speed and proved equal to the `canonicalize` package by test.
 */
export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value === null) return 'null'
  if (Array.isArray(value)) return arrayText(value)
  if (typeof value === 'object') return objectText(value as Record<string, unknown>)
  throw new TypeError(`canonical JSON has no form for a ${typeof value}`)
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no form for NaN or Infinity')
  return String(value)
}

function arrayText(items: readonly unknown[]): string {
  let text = '['
  for (let i = 0; i < items.length; i += 1) {
    if (i > 0) text += ','
    const item = items[i]
    text += item === undefined ? 'null' : canonicalText(item)
  }
  return `${text}]`
}

function objectText(record: Record<string, unknown>): string {
  const keys = sortedKeys(record)
  let text = '{'
  for (const key of keys) {
    const value = record[key]
    if (value === undefined) continue
    text += `${text.length === 1 ? '' : ','}${keyText(key)}:${canonicalText(value)}`
  }
  return `${text}}`
}

/** Most objects have few keys, and most of those in order already: then insertion costs one comparison a key. */
const fewKeys = 24

function sortedKeys(record: object): string[] {
  const keys = Object.keys(record)
  if (keys.length > fewKeys) return keys.sort()
  for (let i = 1; i < keys.length; i += 1) {
    const key = keys[i] as string
    let at = i - 1
    for (; at >= 0 && (keys[at] as string) > key; at -= 1) keys[at + 1] = keys[at] as string
    keys[at + 1] = key
  }
  return keys
}

/** Field names are plain words; only keys that users chose (capability ids, settings) need escaping. */
function keyText(key: string): string {
  for (let i = 0; i < key.length; i += 1) {
    const code = key.charCodeAt(i) | 32
    if (code < 97 || code > 122) return JSON.stringify(key)
  }
  return `"${key}"`
}
