import SqliteDatabase, { type Database, type Statement } from 'better-sqlite3'
import { LandfallError } from '../../facts/errors.ts'
import type { Scheduler } from '../../facts/ports.ts'
import { checkedVersion, migrate, schemaVersion } from './migrations.ts'
import { isBusy, storeError } from './store-error.ts'

export interface ConnectionOptions {
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** Nothing is written, no schema is brought up to date: for verifiers. */
  readonly readonly?: boolean
  /** Quota of the file, enforced by SQLite; beyond it `STORE_FULL`. */
  readonly maxBytes?: number
  /** How long a write waits for another process's lock before `STORE_BUSY`. */
  readonly busyMs?: number
}

const defaultBusyMs = 5_000
/** How long SQLite itself waits for a lock; meanwhile the event loop stands still, so it is short. */
const busyWaitMs = 20

/**
 * Owns one SQLite connection and its transactions.
 * 1. A transaction is never open across a turn of the event loop.
 * 2. What fails is rolled back before its error is seen.
 */
export class Connection {
  readonly db: Database
  readonly #scheduler: Scheduler
  readonly #busyAttempts: number
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #rollback: Statement

  constructor(file: string, options: ConnectionOptions, scheduler: Scheduler) {
    this.db = opened(file, options)
    this.#scheduler = scheduler
    this.#busyAttempts = Math.max(1, Math.ceil((options.busyMs ?? defaultBusyMs) / busyWaitMs))
    this.#begin = this.db.prepare('BEGIN IMMEDIATE')
    this.#commit = this.db.prepare('COMMIT')
    this.#rollback = this.db.prepare('ROLLBACK')
  }

  /** Runs `work` in one write transaction; when the store is busy, again after other turns of the loop, for a bounded time. */
  async write<T>(work: () => T): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return this.#transact(work)
      } catch (error) {
        if (!isBusy(error) || attempt >= this.#busyAttempts) throw storeError(error)
      }
      await new Promise<void>((resolve) => this.#scheduler.soon(resolve))
    }
  }

  read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw storeError(error)
    }
  }

  close(): void {
    this.db.close()
  }

  #transact<T>(work: () => T): T {
    this.#begin.run()
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      // SQLite has already rolled back after a full disk and the like.
      if (this.db.inTransaction) this.#rollback.run()
      throw error
    }
  }
}

function opened(file: string, options: ConnectionOptions): Database {
  let db: Database | undefined
  try {
    const readonly = options.readonly === true
    db = new SqliteDatabase(file, { readonly, fileMustExist: readonly, timeout: options.busyMs ?? defaultBusyMs })
    if (readonly) assertPresent(db)
    else prepareForWriting(db, options)
    db.pragma(`busy_timeout = ${busyWaitMs}`)
    return db
  } catch (error) {
    db?.close()
    throw storeError(error)
  }
}

function prepareForWriting(db: Database, options: ConnectionOptions): void {
  // Refused before anything is changed, the journal mode included.
  checkedVersion(db)
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${options.synchronous ?? 'FULL'}`)
  db.pragma('secure_delete = ON')
  if (options.maxBytes !== undefined) {
    const pageBytes = Number(db.pragma('page_size', { simple: true }))
    db.pragma(`max_page_count = ${Math.max(1, Math.floor(options.maxBytes / pageBytes))}`)
  }
  migrate(db)
}

function assertPresent(db: Database): void {
  const version = checkedVersion(db)
  if (version === schemaVersion) return
  throw new LandfallError(
    'STORE_VERSION',
    'The store has an older form. Open it once for writing to bring it up to date.',
    {
      details: { found: version, known: schemaVersion },
    },
  )
}
