/** Paths of what an example has and this does not, down to where something is missing as a whole. */
export function lacking(given: unknown, example: unknown, path: readonly string[] = []): readonly string[] {
  if (!isRecord(example)) return []
  if (!isRecord(given)) return [path.length === 0 ? 'everything' : path.join('.')]
  return Object.entries(example).flatMap(([key, wanted]) => {
    if (wanted === null) return []
    const at = [...path, key]
    return Object.hasOwn(given, key) ? lacking(given[key], wanted, at) : [at.join('.')]
  })
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
