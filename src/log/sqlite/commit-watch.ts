import type { Database, Statement } from 'better-sqlite3'
import type { Clock, Scheduler } from '../../facts/ports.ts'
import { Listeners } from '../listeners.ts'

/** A poll costs microseconds, and commands from other processes wait for it. */
const pollMs = 20

/**
 * Owns the listeners of one connection and the poll for commits of other connections.
 * 1. It polls only while somebody listens, and the poll keeps no process alive.
 * 2. Commits of this connection do not change its `data_version`; they are told directly.
 */
export class CommitWatch {
  readonly #version: Statement<[], number>
  readonly #clock: Clock
  readonly #scheduler: Scheduler
  readonly #listeners: Listeners
  #seen = 0
  #cancel: (() => void) | null = null

  constructor(db: Database, clock: Clock, scheduler: Scheduler) {
    this.#version = db.prepare<[], number>('PRAGMA data_version').pluck()
    this.#clock = clock
    this.#scheduler = scheduler
    this.#listeners = new Listeners(scheduler)
  }

  add(listener: () => void): () => void {
    const remove = this.#listeners.add(listener)
    if (this.#cancel === null) {
      this.#seen = this.#version.get() ?? 0
      this.#arm()
    }
    return () => {
      remove()
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  committed(): void {
    this.#listeners.notify()
  }

  close(): void {
    this.#listeners.clear()
    this.#stop()
  }

  #arm(): void {
    this.#cancel = this.#scheduler.at(this.#clock.now() + pollMs, () => {
      const version = this.#version.get() ?? 0
      if (version !== this.#seen) this.#listeners.notify()
      this.#seen = version
      this.#arm()
    })
  }

  #stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }
}
