import type { BusFact, StoredFact } from '../facts/envelope.ts'
import type { BusClosed, PassingEvent } from './events.ts'
import type { Interest } from './interest.ts'
import type { Sink } from './sink.ts'

/**
 * One subscriber, between the bus and its sink; owns its position and whether it replays or lives.
 * 1. Each wanted fact after the start position reaches the sink once, in cursor order.
 * 2. While it replays, live facts are set aside (a few) for the switch; when they are too many, or came while replay was not
 *    at the end, replay reads on. So there is no hole at the switch, and nothing waits without bound.
 * 3. Passing events are for the living only.
 * 4. Once over, nothing reaches the sink.
 */
export class Subscription {
  /** Who may listen is counted by this key, and facts of the audience arrive under it. */
  readonly audience: string
  readonly sink: Sink
  readonly #interest: Interest
  readonly #asideBound: number
  #phase: 'replay' | 'live' | 'over'
  #position = 0
  /** null: some were let go, so replay has to read again. */
  #aside: BusFact[] | null = []

  constructor(about: { audience: string; sink: Sink; interest: Interest; live: boolean; bufferEvents: number }) {
    this.audience = about.audience
    this.sink = about.sink
    this.#interest = about.interest
    this.#phase = about.live ? 'live' : 'replay'
    this.#asideBound = about.bufferEvents >> 2
  }

  get over(): boolean {
    return this.#phase === 'over'
  }

  get position(): number {
    return this.#position
  }

  startAfter(cursor: number): void {
    this.#position = cursor
  }

  /** What the feed passes: the facts of one step. */
  hear(facts: readonly BusFact[]): void {
    if (this.#phase === 'live') this.#emit(facts)
    else if (this.#phase === 'replay') this.#setAside(facts)
  }

  hearPassing(event: PassingEvent): void {
    if (this.#phase === 'live' && this.#interest.wantsPassing(event)) this.sink.passing(event)
  }

  /** A replayed fact that is wanted and new is given to the sink by replay, which waits for room first. */
  wantsReplayed(fact: StoredFact): boolean {
    return fact.cursor > this.#position && this.#interest.wants(fact)
  }

  replayed(cursor: number): void {
    if (cursor > this.#position) this.#position = cursor
  }

  /** Called before each read of replay. */
  expectAside(): void {
    this.#aside = []
  }

  /** Replay found the end of the log. False when facts passed meanwhile that it has to read. */
  goLive(): boolean {
    const aside = this.#aside
    if (aside === null || this.#phase !== 'replay') return false
    this.#aside = null
    this.#phase = 'live'
    this.#emit(aside)
    return true
  }

  end(event: BusClosed): void {
    if (this.#leave()) this.sink.end(event)
  }

  fail(error: unknown): void {
    if (this.#leave()) this.sink.fail(error)
  }

  cancel(): void {
    this.#leave()
  }

  #leave(): boolean {
    const first = this.#phase !== 'over'
    this.#phase = 'over'
    this.#aside = null
    return first
  }

  #emit(facts: readonly BusFact[]): void {
    const after = this.#position
    for (const fact of facts) {
      if (fact.cursor <= after || !this.#interest.wants(fact)) continue
      this.sink.fact(fact)
      if (this.#phase === 'over') return
    }
  }

  #setAside(facts: readonly BusFact[]): void {
    if (this.#aside === null) return
    for (const fact of facts) if (this.#interest.wants(fact)) this.#aside.push(fact)
    if (this.#aside.length > this.#asideBound) this.#aside = null
  }
}
