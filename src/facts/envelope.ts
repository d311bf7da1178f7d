import type { Fact, FactOf, FactType } from '../../machines/facts.ts'
import type { Actor } from '../../machines/vocabulary.ts'
import type { Scope } from './scope.ts'

export interface Owner {
  readonly id: string
  readonly epoch: number
}

/** What the log holds of a fact besides what charts read. Order and names are those that `landfall log` prints. */
export interface Envelope extends Scope {
  readonly v: 1
  readonly cursor: number
  /** Counts the commits of the session from 1; all facts of a step share `prev` and `hash`. */
  readonly step: number
  readonly by: Actor
  /** Id of the fact that this one follows from. */
  readonly cause: string | null
  /** Client command id that led to it. */
  readonly command: string | null
  readonly owner: Owner
  /** 64 hex digits: the hash of the step before, zeros at step 1. */
  readonly prev: string
  readonly hash: string
}

export type StoredFact = Fact & Envelope
export type StoredFactOf<T extends FactType> = FactOf<T> & Envelope

/** A fact as it is hashed: before the store gave it a cursor, without the chain of its step. */
export type UnchainedFact = Fact & Omit<Envelope, 'cursor' | 'prev' | 'hash'>

/** A fact as the bus and `events()` give it: `resume` is the opaque `<store epoch>-<cursor>` to continue from. */
export type BusFact = StoredFact & { readonly resume: string }
