import type { Owner } from '../../facts/envelope.ts'
import type {
  AppendResult,
  ClaimResult,
  ContentRef,
  Head,
  HeadFilter,
  InboxEntry,
  Instance,
  Log,
  Snapshot,
  StepAppend,
  StoredStep,
} from '../../facts/log-port.ts'
import type { Clock, Scheduler } from '../../facts/ports.ts'
import { hostProcesses, type ProcessTable } from '../../facts/processes.ts'
import type { Scope } from '../../facts/scope.ts'
import { systemClock, systemScheduler } from '../../facts/system-ports.ts'
import { CommitWatch } from './commit-watch.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { Heads } from './heads.ts'
import { Owners } from './owners.ts'
import { SessionRows } from './session-rows.ts'
import { SideTables } from './side-tables.ts'
import { StepReader } from './step-reader.ts'
import { StepWriter } from './step-writer.ts'
import { isCertainlyUncommitted } from './store-error.ts'

export interface SqliteLogOptions extends ConnectionOptions {
  readonly clock?: Clock
  readonly scheduler?: Scheduler
  readonly processes?: ProcessTable
}

/** One file, one or several processes. Opens the file, or creates it, at once; what is wrong with it is thrown here. */
export function sqliteLog(file: string, options: SqliteLogOptions = {}): Log {
  return new SqliteLog(file, options)
}

/**
 * Owns one connection to one file.
 * 1. An append is one transaction, and a release joins the releases of its turn in one.
 * 2. Ids of sessions made by a transaction that failed are forgotten with it.
 */
class SqliteLog implements Log {
  readonly name = 'sqlite'
  readonly #connection: Connection
  readonly #rows: SessionRows
  readonly #reader: StepReader
  readonly #writer: StepWriter
  readonly #owners: Owners
  readonly #heads: Heads
  readonly #sides: SideTables
  readonly #watch: CommitWatch
  readonly #epoch: string
  readonly #scheduler: Scheduler
  #releases: { readonly all: [Scope, Owner][]; readonly done: Promise<void> } | null = null

  constructor(file: string, options: SqliteLogOptions) {
    const clock = options.clock ?? systemClock
    this.#scheduler = options.scheduler ?? systemScheduler({ clock, background: true })
    this.#connection = new Connection(file, options, this.#scheduler)
    const db = this.#connection.db
    this.#rows = new SessionRows(db)
    this.#reader = new StepReader(db)
    this.#writer = new StepWriter(db, this.#rows, this.#reader)
    this.#owners = new Owners(db, this.#rows, clock, options.processes ?? hostProcesses())
    this.#heads = new Heads(db, this.#owners)
    this.#sides = new SideTables(db, this.#rows)
    this.#watch = new CommitWatch(db, clock, this.#scheduler)
    this.#epoch = this.#connection.read(() => String(db.prepare('SELECT epoch FROM store').pluck().get()))
  }

  async epoch(): Promise<string> {
    return this.#epoch
  }

  async append(steps: readonly StepAppend[]): Promise<readonly AppendResult[]> {
    try {
      const results = await this.#write(() => this.#writer.write(steps))
      this.#watch.committed()
      if (steps.some((step, i) => step.erase === true && results[i]?.ok === true)) this.#scrub()
      return results
    } catch (error) {
      if (!isCertainlyUncommitted(error)) throw error
      return steps.map(() => ({ ok: false, error }))
    }
  }

  async read(
    scope: Scope,
    range: { after?: number; afterCursor?: number; limit: number },
  ): Promise<readonly StoredStep[]> {
    return this.#of(scope, [], (sid) => this.#reader.read(scope, sid, range))
  }

  async content(scope: Scope, refs: readonly ContentRef[]): Promise<readonly (string | null)[]> {
    const none = refs.map(() => null)
    return this.#of(scope, none, (sid) => this.#reader.contents(sid, refs))
  }

  async head(scope: Scope): Promise<Head | null> {
    return this.#of(scope, null, (sid) => this.#heads.one(sid))
  }

  async heads(filter: HeadFilter): Promise<readonly Head[]> {
    return this.#connection.read(() => this.#heads.list(filter))
  }

  async tail(afterCursor: number, limit: number): Promise<readonly StoredStep[]> {
    return this.#connection.read(() => this.#reader.tail(afterCursor, limit))
  }

  async lastCursor(): Promise<number> {
    return this.#connection.read(() => this.#reader.lastCursor())
  }

  watch(listener: () => void): () => void {
    return this.#connection.read(() => this.#watch.add(listener))
  }

  async controlVersion(): Promise<number> {
    return this.#storeNumber('control')
  }

  async claim(scope: Scope, instance: Instance): Promise<ClaimResult> {
    return this.#write(() => this.#owners.claim(scope, instance))
  }

  async renew(instance: Instance): Promise<void> {
    await this.#write(() => this.#owners.renew(instance))
  }

  /** A runtime that closes releases all its sessions at once; they share one transaction. */
  async release(scope: Scope, owner: Owner): Promise<void> {
    if (this.#releases === null) {
      const all: [Scope, Owner][] = []
      this.#releases = { all, done: this.#flushReleases(all) }
    }
    this.#releases.all.push([scope, owner])
    await this.#releases.done
  }

  async #flushReleases(all: readonly (readonly [Scope, Owner])[]): Promise<void> {
    await new Promise<void>((resolve) => this.#scheduler.soon(resolve))
    this.#releases = null
    await this.#write(() => {
      for (const [scope, owner] of all) this.#owners.release(scope, owner)
    })
  }

  async loadSnapshot(scope: Scope): Promise<Snapshot | null> {
    return this.#of(scope, null, (sid) => this.#sides.snapshot(sid))
  }

  async saveSnapshot(scope: Scope, snapshot: Snapshot): Promise<boolean> {
    return this.#write(() => {
      const sid = this.#rows.find(scope)
      return sid !== null && this.#sides.saveSnapshot(sid, snapshot)
    })
  }

  async putInbox(scope: Scope, entry: InboxEntry): Promise<void> {
    await this.#write(() => this.#sides.putInbox(scope, entry))
    this.#watch.committed()
  }

  async inbox(scope: Scope, limit: number): Promise<readonly InboxEntry[]> {
    return this.#of(scope, [], (sid) => this.#sides.inbox(sid, limit))
  }

  async inboxAnswer(scope: Scope, id: string): Promise<string | null> {
    return this.#of(scope, null, (sid) => this.#sides.answer(sid, id))
  }

  async settleInbox(scope: Scope, owner: Owner, entry: { id: string; answer: string }): Promise<boolean> {
    const settled = await this.#write(() => {
      const sid = this.#rows.find(scope)
      return sid !== null && this.#sides.settle(sid, owner, entry)
    })
    this.#watch.committed()
    return settled
  }

  async pendingInbox(limit: number): Promise<readonly Scope[]> {
    return this.#connection.read(() => this.#sides.pending(limit))
  }

  async sessionCount(): Promise<number> {
    return this.#storeNumber('sessions')
  }

  async close(): Promise<void> {
    await this.#releases?.done
    this.#watch.close()
    this.#connection.close()
  }

  async #write<T>(work: () => T): Promise<T> {
    try {
      return await this.#connection.write(work)
    } catch (error) {
      this.#rows.forget()
      throw error
    }
  }

  /** Reads something of a session; what nobody ever wrote to is empty. */
  #of<T>(scope: Scope, otherwise: T, read: (sid: number) => T): T {
    return this.#connection.read(() => {
      const sid = this.#rows.find(scope)
      return sid === null ? otherwise : read(sid)
    })
  }

  #storeNumber(column: 'control' | 'sessions'): number {
    return this.#connection.read(() => Number(this.#connection.db.prepare(`SELECT ${column} FROM store`).pluck().get()))
  }

  /** Old pages with what was erased are still in the write-ahead log; emptying it may have to wait for a reader. */
  #scrub(): void {
    try {
      this.#connection.db.pragma('wal_checkpoint(TRUNCATE)')
    } catch {
      // The erase itself is committed; the next checkpoint does the same.
    }
  }
}
