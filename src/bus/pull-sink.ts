import type { BusFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { EventBuffer } from './event-buffer.ts'
import type { EventIterator } from './event-iterator.ts'
import type { BusClosed, BusEvent, PassingEvent } from './events.ts'
import type { Sink } from './sink.ts'

interface Waiter {
  readonly resolve: (result: IteratorResult<BusEvent, undefined>) => void
  readonly reject: (error: unknown) => void
}

const done: IteratorResult<BusEvent, undefined> = { done: true, value: undefined }

/**
 * The iterator of one subscription; owns its buffer and the calls of `next` that wait.
 * 1. Calls wait only while the buffer is empty, so events leave in the order in which they came.
 * 2. What was buffered before an end or a failure is still taken; `return` throws it away.
 * 3. Replay fills a quarter of the buffer, so that live events find room at the switch.
 */
export class PullSink implements Sink, EventIterator {
  readonly #capacity: number
  readonly #buffer: EventBuffer
  readonly #waiters: Waiter[] = []
  readonly #release: () => void
  #last: BusClosed | null = null
  #error: { readonly cause: unknown } | null = null
  #over = false
  #roomMade: (() => void) | null = null

  /** `release` frees the subscription; it may be called more than once. */
  constructor(capacity: number, release: () => void) {
    this.#capacity = capacity
    this.#buffer = new EventBuffer(capacity)
    this.#release = release
  }

  fact(event: BusFact): void {
    if (this.#over) return
    const waiter = this.#waiters.shift()
    if (waiter === undefined) this.#buffer.addFact(event)
    else waiter.resolve({ done: false, value: event })
  }

  passing(event: PassingEvent): void {
    if (this.#over) return
    const waiter = this.#waiters.shift()
    if (waiter === undefined) this.#buffer.addPassing(event)
    else waiter.resolve({ done: false, value: event })
  }

  end(event: BusClosed): void {
    if (this.#over) return
    this.#over = true
    this.#last = event
    this.#settle()
  }

  fail(error: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#error = { cause: error }
    this.#settle()
  }

  room(): Promise<void> | undefined {
    if (this.#over || this.#hasRoom()) return undefined
    return new Promise((resolve) => {
      this.#roomMade = resolve
    })
  }

  next(): Promise<IteratorResult<BusEvent, undefined>> {
    const event = this.takeNow()
    if (event !== undefined) return Promise.resolve({ done: false, value: event })
    if (this.#error !== null) return this.#fault(this.#error)
    if (this.#over) return Promise.resolve(done)
    if (this.#waiters.length >= this.#capacity) return Promise.reject(this.#tooManyWaiters())
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  takeNow(): BusEvent | undefined {
    const event = this.#buffer.take()
    if (event === undefined) {
      const last = this.#last
      this.#last = null
      return last ?? undefined
    }
    if (this.#hasRoom()) this.#makeRoom()
    return event
  }

  return(): Promise<IteratorResult<BusEvent, undefined>> {
    this.#over = true
    this.#last = null
    this.#error = null
    this.#buffer.clear()
    this.#settle()
    this.#release()
    return Promise.resolve(done)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Whoever waits finds an empty buffer: the first gets the last event or the failure, the others the end. */
  #settle(): void {
    this.#makeRoom()
    for (const waiter of this.#waiters.splice(0)) this.next().then(waiter.resolve, waiter.reject)
  }

  #fault(error: { readonly cause: unknown }): Promise<never> {
    this.#error = null
    return Promise.reject(error.cause)
  }

  #hasRoom(): boolean {
    return this.#buffer.size === 0 || this.#buffer.size < this.#capacity >> 2
  }

  #makeRoom(): void {
    const made = this.#roomMade
    this.#roomMade = null
    made?.()
  }

  #tooManyWaiters(): LandfallError {
    return new LandfallError('LIMIT_EXCEEDED', 'Too many calls of next() wait. Await one before you make another.', {
      details: { which: 'subscriberBufferEvents', bound: this.#capacity, got: this.#waiters.length + 1 },
    })
  }
}
