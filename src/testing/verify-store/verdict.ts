import type { Scope } from '../../facts/scope.ts'
import type { StoreViolation } from './findings.ts'

/** A head as `verify` gave it once: the last fact of a session then, and the hash of its step. */
export interface KeptHead extends Scope {
  readonly seq: number
  readonly hash: string
}

export interface SessionVerdict extends Scope {
  readonly ok: boolean
  readonly facts: number
  /** Model requests that were built again and have their recorded digest. */
  readonly requests: number
  /** Hash of the last step; with `facts`, what to keep elsewhere. */
  readonly head: string
  /** The session was erased: so many requests can no longer be built again, which is as it should be. */
  readonly erased?: number
  readonly violations: readonly StoreViolation[]
}
