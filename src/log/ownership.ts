import { limits } from '../facts/limits.ts'
import type { Instance } from '../facts/log-port.ts'
import type { ProcessTable } from '../facts/processes.ts'

/** An owner as a store keeps it: the instance and the end of its lease (ms since the epoch). */
export interface Lease extends Instance {
  readonly leaseUntil: number
}

export function leaseEnd(now: number): number {
  return now + limits.leaseMs
}

/**
 * True when nobody can act under this lease any more: it ended, or its process on this very host is gone or is another one
 * under the same number. A missing lease belonged to nobody.
 */
export function isGone(lease: Lease | undefined, now: number, processes: ProcessTable): boolean {
  if (lease === undefined || lease.leaseUntil <= now) return true
  return lease.host === processes.host && processes.startedAt(lease.pid) !== lease.startedAt
}
