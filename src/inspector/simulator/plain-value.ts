/** Below this nobody reads on, and a chain of objects may go on for ever. */
const deepest = 60

/**
 * Data as it can be sent and read. What has no form in JSON is told by a mark in brackets, in its place: everything beside it is
 * shown as it is.
 */
export function plainValue(value: unknown): unknown {
  return plain(value, [])
}

function plain(value: unknown, above: readonly object[]): unknown {
  switch (typeof value) {
    case 'bigint':
      return `${value}n`
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'function':
      return `[function ${nameOf(value)}]`
    case 'symbol':
      return `[${String(value)}]`
    case 'undefined':
      return null
    case 'object':
      return value === null ? null : objectForm(value, above)
    default:
      return value
  }
}

function objectForm(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return '[the object that it is in]'
  if (above.length >= deepest) return '[more inside]'
  try {
    return formOf(value, [...above, value])
  } catch (error) {
    return `[cannot be read: ${messageOf(error)}]`
  }
}

function formOf(value: object, above: readonly object[]): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return plain(toJSON.call(value, ''), above)
  if (Array.isArray(value)) return Array.from(value, (item: unknown) => plain(item, above))
  if (value instanceof Map)
    return {
      '[Map]': fieldsOf(
        [...value].map(([key, item]) => [keyText(key), item]),
        above,
      ),
    }
  if (value instanceof Set) return { '[Set]': [...value].map((item) => plain(item, above)) }
  if (value instanceof Error) return `[${value.name}: ${value.message}]`
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return `[${kindOf(value)} of ${value.byteLength} bytes]`
  // A promise, a pattern or a weak map has nothing of its own to show but its kind.
  if (isOpaque(value)) return `[${kindOf(value)}]`
  return fieldsOf(
    Object.keys(value).map((key) => [key, fieldOf(value, key)]),
    above,
  )
}

function isOpaque(value: object): boolean {
  return kindOf(value) !== 'Object' && Object.keys(value).length === 0
}

/** A field without a value is left out, as it is in JSON. */
function fieldsOf(fields: readonly (readonly [string, unknown])[], above: readonly object[]): object {
  return Object.fromEntries(
    fields.filter(([, item]) => item !== undefined).map(([key, item]) => [key, plain(item, above)]),
  )
}

/** A getter is code, and may throw. */
function fieldOf(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch (error) {
    return `[cannot be read: ${messageOf(error)}]`
  }
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return key
  const form = plain(key, [])
  return typeof form === 'string' ? form : JSON.stringify(form)
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

function nameOf({ name }: { readonly name: unknown }): string {
  return typeof name === 'string' && name !== '' ? name : 'without a name'
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'it throws'
  }
}
