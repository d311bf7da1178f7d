import type { Invariant } from '../check-log/violation.ts'

/** What facts alone can contradict, and what the fold and content decide. */
export type StoreInvariant = Invariant | 'INV-08' | 'INV-14'

export interface StoreViolation {
  readonly seq: number
  readonly invariant: StoreInvariant
  /** Names, counts and states only. */
  readonly message: string
}

/** Owns: the violations of one session. 1. One a seq and invariant: a changed record is one finding, whoever meets it first. */
export class Findings {
  readonly #all = new Map<string, StoreViolation>()

  readonly report = (invariant: StoreInvariant, seq: number, message: string): void => {
    const key = `${invariant} ${seq}`
    if (!this.#all.has(key)) this.#all.set(key, { seq, invariant, message })
  }

  /** After an erase nothing can be said about content any more, also when it went while this was reading. */
  withoutContent(): void {
    for (const [key, { invariant }] of this.#all) if (invariant === 'INV-14') this.#all.delete(key)
  }

  get size(): number {
    return this.#all.size
  }

  list(): readonly StoreViolation[] {
    return [...this.#all.values()].sort((a, b) => a.seq - b.seq)
  }
}

/** Why something could not be read, without a word of what was read. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown cause'
  const { code, details } = error as { code?: unknown; details?: { what?: unknown } }
  const what = details?.what
  const named = typeof code === 'string' ? code : error.name
  return typeof what === 'string' ? `${named}, ${what}` : named
}
