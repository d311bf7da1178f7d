/**
 * The hash chain of one session, recomputed while facts pass by. It owns the running hash of the step at hand.
 *
 * 1. A step's facts are hashed as they come, so a step of any size costs the memory of one fact.
 * 2. `prev` is compared with the recorded hash of the step before, so that one changed record is one broken step and not a
 *    break of everything behind it.
 */
import { createHash, type Hash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { StoredFact } from '../../facts/envelope.ts'
import type { Report } from './violation.ts'

// The package is CommonJS and its types describe an ES default export, so it is loaded the way it was published.
const canonicalize: (value: unknown) => string | undefined = createRequire(import.meta.url)('canonicalize')

const zeros = '0'.repeat(64)

export interface Chain {
  step: number
  firstSeq: number
  facts: number
  prev: string
  hash: string
  hasher: Hash | null
}

export function emptyChain(): Chain {
  return { step: 0, firstSeq: 0, facts: 0, prev: '', hash: zeros, hasher: null }
}

/** The text of a fact that the hash covers. `resume` is what the bus adds for its reader; it is no part of the record. */
export function hashedText(fact: StoredFact): string {
  const { cursor: _cursor, prev: _prev, hash: _hash, ...rest } = fact
  delete (rest as { resume?: unknown }).resume
  return canonicalize(rest) ?? ''
}

/** `step` counts commits of the session from 1 … `prev` is the hash of the step before (page 6, Envelope). */
export function openStep(chain: Chain, fact: StoredFact, report: Report): void {
  if (fact.step !== chain.step + 1) {
    report('INV-09', fact.seq, `step ${fact.step} follows step ${chain.step}`)
  }
  if (fact.prev !== chain.hash) {
    report('INV-09', fact.seq, `prev of step ${fact.step} is not the hash of the step before`)
  }
  chain.step = fact.step
  chain.firstSeq = fact.seq
  chain.facts = 0
  chain.prev = fact.prev
  chain.hash = fact.hash
  chain.hasher = createHash('sha256').update('{"facts":[')
}

/** All facts of a step carry the same `prev` and `hash` (page 6, Envelope). */
export function addToStep(chain: Chain, fact: StoredFact, text: string, report: Report): void {
  if (fact.prev !== chain.prev || fact.hash !== chain.hash) {
    report('INV-09', fact.seq, `the facts of step ${fact.step} do not carry the same prev and hash`)
  }
  if (chain.facts > 0) chain.hasher?.update(',')
  chain.hasher?.update(text)
  chain.facts += 1
}

export function closeStep(chain: Chain, report: Report): void {
  if (chain.hasher === null) return
  const hash = chain.hasher.update(`],"prev":${canonicalize(chain.prev)}}`).digest('hex')
  chain.hasher = null
  if (hash !== chain.hash) {
    report('INV-09', chain.firstSeq, `the facts of step ${chain.step} do not have its recorded hash`)
  }
}
