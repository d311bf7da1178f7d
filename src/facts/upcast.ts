/** What of a fact may change its shape over versions: the envelope never does. */
export interface VersionedFact {
  readonly type: string
  readonly v: number
  readonly data: unknown
}

/** Brings a fact of one (type, v) to the next version; it may rename the type, and it never sees other facts. */
export type Upcaster = (fact: VersionedFact) => VersionedFact

/** Keyed by `upcastKey`. */
export type Upcasters = ReadonlyMap<string, Upcaster>

/** Every type is at its first version, so there is nothing to bring forward yet. */
export const upcasters: Upcasters = new Map()

export function upcastKey(type: string, v: number): string {
  return `${type}@${v}`
}

/** Applies upcasters until none is left for what came out. Stored facts are never rewritten; this happens on every read. */
export function upcast(fact: VersionedFact, chain: Upcasters = upcasters): VersionedFact {
  let current = fact
  for (let passes = 0; passes <= chain.size; passes += 1) {
    const next = chain.get(upcastKey(current.type, current.v))
    if (next === undefined) return { type: current.type, v: current.v, data: current.data }
    current = next(current)
  }
  throw new RangeError(`upcasters of ${fact.type} never come to an end`)
}
