import type { Scheduler } from '../facts/ports.ts'

/** Streams that write in one turn of the event loop. */
const streamsPerTurn = 32

/**
 * Owns the order in which streams write.
 * 1. At most `streamsPerTurn` write in one turn of the loop, first come first served: a fact for a thousand subscribers is no long
 *    block for the work that makes the next one. What comes while a stream waits goes out in the same write.
 */
export class WriteTurns {
  readonly #scheduler: Scheduler
  #waiting: (() => void)[] = []
  #due = false

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#wake()
    })
  }

  #wake(): void {
    if (this.#due) return
    this.#due = true
    this.#scheduler.soon(() => {
      this.#due = false
      const now = this.#waiting.slice(0, streamsPerTurn)
      this.#waiting = this.#waiting.slice(streamsPerTurn)
      if (this.#waiting.length > 0) this.#wake()
      for (const resolve of now) resolve()
    })
  }
}
