import type { BusFact } from '../facts/envelope.ts'
import type { BusClosed, PassingEvent } from './events.ts'

/** Where a subscription's events go. None of its methods throws, whatever the consumer does. */
export interface Sink {
  fact(event: BusFact): void
  passing(event: PassingEvent): void
  /** The stream ends from this side, after what is waiting. */
  end(event: BusClosed): void
  fail(error: unknown): void
  /** For replay: undefined to go on at once, otherwise it settles when there is room or when the subscription is over. */
  room(): Promise<void> | undefined
}
