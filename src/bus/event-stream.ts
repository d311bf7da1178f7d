// The whole of rxjs takes as long to load as everything else together; this is the same class by the package's own sub-path.
import { Observable } from 'rxjs/internal/Observable'
import type { EventIterator } from './event-iterator.ts'
import type { BusEvent } from './events.ts'
import { PullSink } from './pull-sink.ts'
import { PushSink } from './push-sink.ts'
import type { Sink } from './sink.ts'

/** Starts one subscription into a sink; what it returns frees it. Never throws: failures go into the sink. */
export type Connect = (sink: Sink) => () => void

/**
 * Events to subscribe to or to iterate over. Each `subscribe` and each iterator is a subscription of its own, from its own start
 * to its end. An observer gets events as they come and should return quickly; an iterator pulls, and loses events by notice.
 */
export class EventStream extends Observable<BusEvent> implements AsyncIterable<BusEvent> {
  readonly #connect: Connect
  readonly #bufferEvents: number

  constructor(connect: Connect, bufferEvents: number) {
    super((observer) => connect(new PushSink(observer)))
    this.#connect = connect
    this.#bufferEvents = bufferEvents
  }

  /** The subscription begins here, not with the first `next`, so that nothing is missed in between. */
  [Symbol.asyncIterator](): EventIterator {
    let release = (): void => {}
    const sink = new PullSink(this.#bufferEvents, () => release())
    release = this.#connect(sink)
    return sink
  }
}
