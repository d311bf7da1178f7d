import type { Clock, Scheduler } from '../../facts/ports.ts'

/** The least time from one piece of work to the next; doubled while notices keep coming in it, up to a bound. */
const firstGapMs = 1_000
const longestGapMs = 30_000

/**
 * Owns: when work is done that somebody else may ask for at any rate.
 * 1. Notices that come before the work begins are one; those that come while it runs lead to one more piece of it.
 * 2. The first notice is heeded at once. The gap after each piece of work grows while notices do not wait for its end, and
 *    is as it was at first after one that did.
 * 3. After `stop` nothing begins any more, and nobody is kept waiting.
 */
export class PacedWork {
  readonly #work: () => Promise<void>
  readonly #ports: { readonly clock: Clock; readonly scheduler: Scheduler }
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  #ended = Number.NEGATIVE_INFINITY
  #gapMs = firstGapMs
  #stopped = false
  #wake: () => void = () => {}

  constructor(work: () => Promise<void>, ports: { readonly clock: Clock; readonly scheduler: Scheduler }) {
    this.#work = work
    this.#ports = ports
  }

  notice(): void {
    if (this.#stopped) return
    this.#next ??= this.#begin()
  }

  /** Resolves when all that was noticed so far is done. */
  async done(): Promise<void> {
    await (this.#next ?? this.#running)
  }

  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  async #begin(): Promise<void> {
    await this.#running
    await this.#gap()
    this.#next = null
    if (this.#stopped) return
    this.#running = this.#work().finally(() => {
      this.#ended = this.#ports.clock.now()
    })
    await this.#running
  }

  async #gap(): Promise<void> {
    const { clock, scheduler } = this.#ports
    const due = this.#ended + this.#gapMs
    if (clock.now() >= due) {
      this.#gapMs = firstGapMs
      return
    }
    this.#gapMs = Math.min(longestGapMs, this.#gapMs * 2)
    if (this.#stopped) return
    await new Promise<void>((resolve) => {
      const cancel = scheduler.at(due, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
}
