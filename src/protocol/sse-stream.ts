import type { EventStream } from '../bus/event-stream.ts'
import type { BusEvent } from '../bus/events.ts'
import { errorCode } from '../facts/errors.ts'
import type { RuntimePorts } from '../runtime/options.ts'
import type { OpenStream } from './gate.ts'
import { commentFrame, frameOf, retryFrame } from './sse-frame.ts'
import type { WriteTurns } from './write-turns.ts'

/** As many events as one write may carry. */
const eventsPerWrite = 64

interface Next {
  readonly result: Promise<IteratorResult<BusEvent, undefined>>
  settled: boolean
}

type Turn = 'event' | 'idle' | 'end'

/**
 * One subscriber over HTTP, written when its client reads.
 * 1. The next event is taken only when there is room to write it: what a client does not read waits in the bounded buffer of the
 *    bus, and is lost there by notice.
 * 2. Every end frees the subscription: of the client, of the bus, of the server and of the credentials.
 */
export class SseStream implements OpenStream {
  readonly #ports: Pick<RuntimePorts, 'clock' | 'scheduler' | 'fair' | 'limits'>
  readonly #events: AsyncIterator<BusEvent, undefined>
  readonly #release: () => void
  readonly #turns: WriteTurns
  readonly #expiresAt: number
  readonly #greeting: readonly Uint8Array[]
  #next: Next | null = null
  #remark: string | null = null
  #wake: (turn: Turn) => void = () => {}
  #over = false

  constructor(
    events: EventStream,
    about: {
      readonly ports: Pick<RuntimePorts, 'clock' | 'scheduler' | 'fair' | 'limits'>
      readonly release: () => void
      readonly turns: WriteTurns
      readonly expiresAt: number | null
      readonly greeting: readonly Uint8Array[]
    },
  ) {
    this.#ports = about.ports
    this.#events = events[Symbol.asyncIterator]()
    this.#release = about.release
    this.#turns = about.turns
    this.#expiresAt = about.expiresAt ?? Number.POSITIVE_INFINITY
    this.#greeting = about.greeting
  }

  body(): ReadableStream<Uint8Array> {
    const greeting = [retryFrame(this.#ports.limits.sseRetryMs), ...this.#greeting]
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => controller.enqueue(Buffer.concat(greeting)),
        pull: (controller) => this.#pull(controller),
        cancel: () => this.#finish(),
      },
      { highWaterMark: 0 },
    )
  }

  /** Ends the stream from this side with a comment, after the event that is being written. */
  end(remark: string): void {
    this.#remark ??= remark
    this.#wake('end')
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const turn = await this.#turn()
      if (turn === 'idle') controller.enqueue(commentFrame('still here'))
      else if (turn === 'end') await this.#close(controller, [commentFrame(this.#remark ?? 'the end')])
      else {
        const { fair } = this.#ports
        await this.#turns.next()
        while (fair.spent) await fair.turn()
        await this.#write(controller)
      }
    } catch (error) {
      // The status is sent already. The client reads why, and comes back with its last position.
      await this.#close(controller, [commentFrame(`ended: ${errorCode(error)}`)])
    }
  }

  /** Waits for an event, for a while without one, or for an end. */
  async #turn(): Promise<Turn> {
    if (this.#remark !== null) return 'end'
    const next = this.#ask()
    if (next.settled) return 'event'
    const { clock, scheduler, limits } = this.#ports
    const idleAt = clock.now() + limits.sseKeepAliveMs
    return new Promise<Turn>((resolve, reject) => {
      const until = Math.min(idleAt, this.#expiresAt)
      const cancel = scheduler.at(until, () => done(until < idleAt ? this.#expired() : 'idle'))
      const done = (turn: Turn) => {
        cancel()
        this.#wake = () => {}
        resolve(turn)
      }
      this.#wake = done
      next.result.then(
        () => done('event'),
        (error: unknown) => {
          cancel()
          reject(error)
        },
      )
    })
  }

  #expired(): Turn {
    this.#remark ??= 'the credentials have expired'
    return 'end'
  }

  /** Everything that is there already goes in one write. */
  async #write(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const frames: Uint8Array[] = []
    while (frames.length < eventsPerWrite) {
      const next = this.#ask()
      if (!next.settled) {
        if (frames.length > 0) await Promise.resolve()
        if (!next.settled) break
      }
      this.#next = null
      const { done, value } = await next.result
      if (done === true) return this.#close(controller, frames)
      frames.push(frameOf(value))
      if (value.type === 'bus.closed') {
        frames.push(commentFrame(value.reason))
        return this.#close(controller, frames)
      }
    }
    if (frames.length > 0) controller.enqueue(joined(frames))
  }

  #ask(): Next {
    if (this.#next !== null) return this.#next
    const next: Next = { result: this.#events.next(), settled: false }
    const settle = () => {
      next.settled = true
    }
    next.result.then(settle, settle)
    this.#next = next
    return next
  }

  async #close(controller: ReadableStreamDefaultController<Uint8Array>, last: readonly Uint8Array[]): Promise<void> {
    if (this.#over) return
    if (last.length > 0) controller.enqueue(joined(last))
    controller.close()
    await this.#finish()
  }

  async #finish(): Promise<void> {
    if (this.#over) return
    this.#over = true
    this.#wake('end')
    this.#release()
    await this.#events.return?.()
  }
}

function joined(frames: readonly Uint8Array[]): Uint8Array {
  return frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames)
}
