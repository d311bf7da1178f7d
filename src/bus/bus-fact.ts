import type { BusFact, StoredFact } from '../facts/envelope.ts'
import { positionText } from './position.ts'

/**
 * The one object that all subscribers of a fact share. It is frozen all through, so that none of them can change what the
 * others, or the runtime that wrote it, still read.
 */
export function busFact(fact: StoredFact, epoch: string): BusFact {
  const shared: BusFact = { ...fact, resume: positionText(epoch, fact.cursor) }
  return frozen(shared)
}

function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) frozen(part)
  }
  return Object.freeze(value)
}
