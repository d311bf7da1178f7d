import type { Scheduler } from '../facts/ports.ts'

/**
 * Owns the listeners of one log.
 * 1. A listener is called after the current turn, never inside the commit that it hears of.
 * 2. Many notices within one turn are one call.
 */
export class Listeners {
  readonly #scheduler: Scheduler
  readonly #all = new Set<{ readonly call: () => void }>()
  #due = false

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  get size(): number {
    return this.#all.size
  }

  add(listener: () => void): () => void {
    const entry = { call: listener }
    this.#all.add(entry)
    return () => {
      this.#all.delete(entry)
    }
  }

  notify(): void {
    if (this.#due || this.#all.size === 0) return
    this.#due = true
    this.#scheduler.soon(() => {
      this.#due = false
      for (const entry of [...this.#all]) if (this.#all.has(entry)) entry.call()
    })
  }

  clear(): void {
    this.#all.clear()
  }
}
