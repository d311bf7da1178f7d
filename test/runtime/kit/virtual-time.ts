import type { Clock, Random, Scheduler } from '../../../src/facts/ports.ts'

/**
 * Owns a clock and the timers on it.
 * 1. Time moves only in `advance` and `jump`; a timer fires with the clock at its own time, never before.
 * 2. `settle` returns when no timer is due and nothing has asked for a turn of the loop for several turns.
 */
export class VirtualTime implements Clock, Scheduler {
  #now = Date.parse('2026-01-01T00:00:00.000Z')
  #timers: { readonly at: number; readonly task: () => void }[] = []
  #asked = 0

  now(): number {
    return this.#now
  }

  at(at: number, task: () => void): () => void {
    const timer = { at, task }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  soon(task: () => void): void {
    this.#asked += 1
    setImmediate(task)
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet += 1) {
      const before = this.#asked
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (this.#fireNext(this.#now) || this.#asked !== before) quiet = 0
    }
  }

  #fireNext(end: number): boolean {
    const due = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0]
    if (due === undefined) return false
    this.#timers = this.#timers.filter((timer) => timer !== due)
    this.#now = Math.max(this.#now, due.at)
    due.task()
    return true
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await this.settle()
    while (this.#fireNext(end)) await this.settle()
    this.#now = Math.max(this.#now, end)
    await this.settle()
  }

  /** The machine slept: time is later, and no timer had its turn yet. */
  jump(ms: number): void {
    this.#now += ms
  }
}

/** The same numbers for the same seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(next() * 256)) }
}
