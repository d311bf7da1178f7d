import type { CallId, TaskId } from '../../machines/vocabulary.ts'
import type { BusFact } from '../facts/envelope.ts'
import type { Scope } from '../facts/scope.ts'

/** What rides on the bus between facts and is in no log: it comes after the fact `after`, and a hole in `index` is its loss notice. */
interface Passing extends Scope {
  readonly task: TaskId | null
  /** seq of the fact that it belongs to. */
  readonly after: number
  readonly index: number
}

export interface ModelDelta extends Passing {
  readonly type: 'model.delta'
  readonly kind: 'text' | 'reasoning'
  readonly text: string
}

export interface CallProgress extends Passing {
  readonly type: 'call.progress'
  readonly call: CallId
  readonly note: string
}

export type PassingEvent = ModelDelta | CallProgress

/** The last event of a stream that ends from this side. With a scope it ends the streams of that scope alone. */
export interface BusClosed {
  readonly type: 'bus.closed'
  readonly reason: string
}

export type EphemeralEvent = PassingEvent | (BusClosed & Scope)

/** Stands in the place of facts that a slow subscriber lost: cursors of the first and the last of them, and how many. */
export interface BusDropped {
  readonly type: 'bus.dropped'
  readonly from: number
  readonly to: number
  readonly count: number
  /** The position from which a new subscription gets them all. */
  readonly resume: string
}

export type BusEvent = BusFact | PassingEvent | BusDropped | BusClosed

export const passingTypes = ['model.delta', 'call.progress'] as const

export function isFact(event: BusEvent): event is BusFact {
  return 'cursor' in event
}

export function isPassing(event: EphemeralEvent): event is PassingEvent {
  return event.type !== 'bus.closed'
}
