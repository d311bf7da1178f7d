import type { BusFact } from '../facts/envelope.ts'
import type { BusDropped, BusEvent, PassingEvent } from './events.ts'
import { positionText } from './position.ts'

interface Waiting<T> {
  readonly order: number
  readonly event: T
}

interface Gap {
  readonly from: number
  readonly epoch: string
  to: number
  count: number
}

/**
 * Owns what one subscriber has not taken yet.
 * 1. At most `capacity` events wait, and one notice.
 * 2. When full, the oldest passing event goes; only without one the oldest fact goes.
 * 3. Facts go from the front, and only when no passing event waits, so their place is always the front and one notice is enough.
 */
export class EventBuffer {
  readonly #capacity: number
  readonly #facts: Waiting<BusFact>[] = []
  readonly #passing: Waiting<PassingEvent>[] = []
  #gap: Gap | null = null
  #order = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#facts.length + this.#passing.length
  }

  addFact(event: BusFact): void {
    this.#facts.push({ order: this.#order++, event })
    if (this.size <= this.#capacity) return
    if (this.#passing.shift() !== undefined) return
    const oldest = this.#facts.shift()
    if (oldest !== undefined) this.#lose(oldest.event)
  }

  addPassing(event: PassingEvent): void {
    this.#passing.push({ order: this.#order++, event })
    if (this.size > this.#capacity) this.#passing.shift()
  }

  take(): BusEvent | undefined {
    if (this.#gap !== null) return this.#takeNotice(this.#gap)
    const fact = this.#facts[0]
    const passing = this.#passing[0]
    if (passing === undefined || (fact !== undefined && fact.order < passing.order)) return this.#facts.shift()?.event
    return this.#passing.shift()?.event
  }

  clear(): void {
    this.#facts.length = 0
    this.#passing.length = 0
    this.#gap = null
  }

  #lose(fact: BusFact): void {
    if (this.#gap === null) {
      const epoch = fact.resume.slice(0, fact.resume.lastIndexOf('-'))
      this.#gap = { from: fact.cursor, to: fact.cursor, count: 1, epoch }
      return
    }
    this.#gap.to = fact.cursor
    this.#gap.count += 1
  }

  #takeNotice({ from, to, count, epoch }: Gap): BusDropped {
    this.#gap = null
    return { type: 'bus.dropped', from, to, count, resume: positionText(epoch, from - 1) }
  }
}
