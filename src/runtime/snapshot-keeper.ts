import type { Log } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import type { Held } from './session-hold.ts'
import { packWorld } from './world-snapshot.ts'

/** Facts behind the newest snapshot before another one is worth its writing. */
const leastFacts = 512
/** And the share of the log: writing a snapshot costs what the session holds, so it must not come more often as that grows. */
const shareOfLog = 0.1

/**
 * Owns: when the next snapshot of a session is due, and the revision that it must follow.
 * 1. A snapshot is a cache: it is written after commits, never before a receipt, and a failure to write it harms nothing.
 * 2. Saving is compare-and-swap on the revision, so an older writer never rewinds a newer one.
 */
export class SnapshotKeeper {
  readonly #log: Log
  readonly #scope: Scope
  #revision = 0
  #at = 0

  constructor(log: Log, scope: Scope) {
    this.#log = log
    this.#scope = scope
  }

  loaded(snapshot: { revision: number; seq: number }): void {
    this.#revision = snapshot.revision
    this.#at = snapshot.seq
  }

  async keep(held: Held): Promise<void> {
    const { seq, hash } = held.head
    if (seq - this.#at < Math.max(leastFacts, seq * shareOfLog)) return
    this.#at = seq
    const revision = this.#revision + 1
    const saved = await this.#log
      .saveSnapshot(this.#scope, { seq, hash, revision, body: packWorld(held.world, hash) })
      .catch(() => false)
    if (saved) this.#revision = revision
    else this.#revision = (await this.#log.loadSnapshot(this.#scope).catch(() => null))?.revision ?? 0
  }
}
