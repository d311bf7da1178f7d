import type { Subscriber as Observer } from 'rxjs'
import type { BusFact } from '../facts/envelope.ts'
import type { BusClosed, BusEvent, PassingEvent } from './events.ts'
import type { Sink } from './sink.ts'

/** Hands each event to an observer at once, so there is nothing to buffer and nothing to lose. */
export class PushSink implements Sink {
  readonly #observer: Observer<BusEvent>

  constructor(observer: Observer<BusEvent>) {
    this.#observer = observer
  }

  fact(event: BusFact): void {
    this.#next(event)
  }

  passing(event: PassingEvent): void {
    this.#next(event)
  }

  end(event: BusClosed): void {
    this.#next(event)
    guarded(() => this.#observer.complete())
  }

  fail(error: unknown): void {
    guarded(() => this.#observer.error(error))
  }

  room(): undefined {
    return undefined
  }

  #next(event: BusEvent): void {
    try {
      this.#observer.next(event)
    } catch {
      // RxJS reports what an observer throws by itself. Only a host that switched on its old synchronous mode gets here; such
      // an observer has broken its own stream, and must not break the delivery to others.
      guarded(() => this.#observer.unsubscribe())
    }
  }
}

/** A throwing end handler or teardown belongs to that observer alone. */
function guarded(work: () => void): void {
  try {
    work()
  } catch {
    // The observer is gone; there is nobody left whom this would concern.
  }
}
