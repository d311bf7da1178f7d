import type { Database, Statement } from 'better-sqlite3'
import type { Owner } from '../../facts/envelope.ts'
import type { ClaimResult, Instance } from '../../facts/log-port.ts'
import type { Clock } from '../../facts/ports.ts'
import type { ProcessTable } from '../../facts/processes.ts'
import type { Scope } from '../../facts/scope.ts'
import { isGone, type Lease, leaseEnd } from '../ownership.ts'
import type { SessionRows } from './session-rows.ts'

interface OwnerRow {
  readonly owner: string | null
  readonly epoch: number
}

interface LeaseRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly started_at: number
  readonly lease_until: number
}

/** Rows this long after their lease are of no use: a missing row says the same as an ended lease. */
const forgetAfterMs = 3_600_000

/**
 * Owns the rows of instances and the owner columns of sessions.
 * 1. A session's epoch grows with every change of its owner and never decreases; releasing keeps it.
 */
export class Owners {
  readonly #rows: SessionRows
  readonly #clock: Clock
  readonly #processes: ProcessTable
  readonly #owner: Statement<[number], OwnerRow>
  readonly #take: Statement<[string, number, number]>
  readonly #release: Statement<[number, string, number]>
  readonly #lease: Statement<[string], LeaseRow>
  readonly #renew: Statement<[string, string, number, number, number]>
  readonly #forget: Statement<[number]>

  constructor(db: Database, rows: SessionRows, clock: Clock, processes: ProcessTable) {
    this.#rows = rows
    this.#clock = clock
    this.#processes = processes
    this.#owner = db.prepare('SELECT owner, epoch FROM sessions WHERE sid = ?')
    this.#take = db.prepare('UPDATE sessions SET owner = ?, epoch = ? WHERE sid = ?')
    this.#release = db.prepare('UPDATE sessions SET owner = NULL WHERE sid = ? AND owner = ? AND epoch = ?')
    this.#lease = db.prepare('SELECT * FROM owners WHERE id = ?')
    this.#renew = db.prepare('INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?, ?)')
    this.#forget = db.prepare('DELETE FROM owners WHERE lease_until < ?')
  }

  claim(scope: Scope, instance: Instance): ClaimResult {
    this.renew(instance)
    const sid = this.#rows.findOrCreate(scope)
    const row = this.#owner.get(sid) ?? { owner: null, epoch: 0 }
    if (row.owner === instance.id) return { claimed: true, epoch: row.epoch }
    if (row.owner !== null && !this.isGone(row.owner)) {
      return { claimed: false, owner: { id: row.owner, epoch: row.epoch } }
    }
    this.#take.run(instance.id, row.epoch + 1, sid)
    return { claimed: true, epoch: row.epoch + 1 }
  }

  renew(instance: Instance): void {
    const { id, host, pid, startedAt } = instance
    const now = this.#clock.now()
    this.#renew.run(id, host, pid, startedAt, leaseEnd(now))
    this.#forget.run(now - forgetAfterMs)
  }

  release(scope: Scope, owner: Owner): void {
    const sid = this.#rows.find(scope)
    if (sid !== null) this.#release.run(sid, owner.id, owner.epoch)
  }

  isGone(owner: string): boolean {
    const row = this.#lease.get(owner)
    const lease: Lease | undefined = row && {
      id: row.id,
      host: row.host,
      pid: row.pid,
      startedAt: row.started_at,
      leaseUntil: row.lease_until,
    }
    return isGone(lease, this.#clock.now(), this.#processes)
  }
}
