import type { EventIterator } from '../bus/event-iterator.ts'
import type { EventStream } from '../bus/event-stream.ts'
import type { BusEvent } from '../bus/events.ts'
import { errorCode } from '../facts/errors.ts'
import type { RuntimePorts } from '../runtime/options.ts'
import type { OpenStream } from './gate.ts'
import { commentFrame, frameOf, joinedFrames, retryFrame } from './sse-frame.ts'
import type { WriteTurns } from './write-turns.ts'

/** As many events as one write may carry. */
const eventsPerWrite = 64

type Ports = Pick<RuntimePorts, 'clock' | 'background' | 'fair' | 'limits'>
type Controller = ReadableStreamDefaultController<Uint8Array>
/** What a wait ended with: an event, or the end of them; or nothing for a while; or an end from this side. */
type Turn = IteratorResult<BusEvent, undefined> | 'idle' | 'end'

/**
 * One subscriber over HTTP, written when its client reads.
 * 1. The next event is taken only when there is room to write it: what a client does not read waits in the bounded buffer of the
 *    bus, and is lost there by notice.
 * 2. Every end frees the subscription and the timers: of the client, of the bus, of the server and of the credentials.
 * 3. There are as many of these as there are subscribers, so a stream asks for one promise a write and arms no timer for it.
 */
export class SseStream implements OpenStream {
  readonly #ports: Ports
  readonly #events: EventIterator
  readonly #release: () => void
  readonly #turns: WriteTurns
  readonly #greeting: readonly Uint8Array[]
  /** An event that was asked for and has not come, kept over a wait that ended otherwise. */
  #asked: Promise<IteratorResult<BusEvent, undefined>> | null = null
  #remark: string | null = null
  #wake: (turn: 'idle' | 'end') => void = () => {}
  #lastSign: number
  #cancelIdle: () => void
  readonly #cancelExpiry: () => void
  #over = false

  constructor(
    events: EventStream,
    about: {
      readonly ports: Ports
      readonly release: () => void
      readonly turns: WriteTurns
      readonly expiresAt: number | null
      readonly greeting: readonly Uint8Array[]
    },
  ) {
    const { clock, background, limits } = about.ports
    this.#ports = about.ports
    this.#events = events[Symbol.asyncIterator]()
    this.#release = about.release
    this.#turns = about.turns
    this.#greeting = about.greeting
    this.#lastSign = clock.now()
    this.#cancelIdle = background.at(this.#lastSign + limits.sseKeepAliveMs, () => this.#lookForSilence())
    this.#cancelExpiry =
      about.expiresAt === null
        ? () => {}
        : background.at(about.expiresAt, () => this.end('the credentials have expired'))
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

  /**
   * One timer for the whole stream: it looks whether something was written since it was armed. It is there before a client reads,
   * so it keeps no process alive; the connection does.
   */
  #lookForSilence(): void {
    const { clock, background, limits } = this.#ports
    if (clock.now() - this.#lastSign >= limits.sseKeepAliveMs) {
      this.#lastSign = clock.now()
      this.#wake('idle')
    }
    this.#cancelIdle = background.at(this.#lastSign + limits.sseKeepAliveMs, () => this.#lookForSilence())
  }

  async #pull(controller: Controller): Promise<void> {
    try {
      const turn = await this.#turn()
      if (turn === 'idle') controller.enqueue(commentFrame('still here'))
      else if (turn === 'end') await this.#close(controller, [commentFrame(this.#remark ?? 'the end')])
      else if (turn.done === true) await this.#close(controller, [])
      else {
        const { fair } = this.#ports
        await this.#turns.next()
        while (fair.spent) await fair.turn()
        await this.#write(controller, turn.value)
      }
      this.#lastSign = this.#ports.clock.now()
    } catch (error) {
      // The status is sent already. The client reads why, and comes back with its last position.
      await this.#close(controller, [commentFrame(`ended: ${errorCode(error)}`)])
    }
  }

  /** Takes an event that is there; else waits for one, for a while without one, or for an end. */
  #turn(): Turn | Promise<Turn> {
    if (this.#remark !== null) return 'end'
    const value = this.#asked === null ? this.#events.takeNow() : undefined
    if (value !== undefined) return { done: false, value }
    const asked = this.#asked ?? this.#events.next()
    this.#asked = asked
    return new Promise<Turn>((resolve, reject) => {
      const done = (turn: Turn): void => {
        this.#wake = () => {}
        resolve(turn)
      }
      this.#wake = done
      asked.then((result) => {
        if (this.#wake !== done) return
        this.#asked = null
        done(result)
      }, reject)
    })
  }

  /** Everything that is there already goes in one write. */
  async #write(controller: Controller, first: BusEvent): Promise<void> {
    const frames: Uint8Array[] = []
    for (let event: BusEvent | undefined = first; event !== undefined; event = this.#events.takeNow()) {
      frames.push(frameOf(event))
      if (event.type === 'bus.closed') return this.#close(controller, [...frames, commentFrame(event.reason)])
      if (frames.length === eventsPerWrite) break
    }
    // The client may have gone while the write waited for its turn.
    if (!this.#over) controller.enqueue(joinedFrames(frames))
  }

  async #close(controller: Controller, last: readonly Uint8Array[]): Promise<void> {
    if (this.#over) return
    if (last.length > 0) controller.enqueue(joinedFrames(last))
    controller.close()
    await this.#finish()
  }

  async #finish(): Promise<void> {
    if (this.#over) return
    this.#over = true
    this.#cancelIdle()
    this.#cancelExpiry()
    this.#wake('end')
    this.#release()
    await this.#events.return?.()
  }
}
