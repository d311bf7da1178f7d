import type { BusFact, StoredFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { FairLoop } from '../facts/fair-loop.ts'
import type { Limits } from '../facts/limits.ts'
import type { Log } from '../facts/log-port.ts'
import type { Clock, Scheduler } from '../facts/ports.ts'
import { scopeKey } from '../facts/scope.ts'
import { systemClock } from '../facts/system-ports.ts'
import { Audience, covers, wideKey } from './audience.ts'
import { busFact } from './bus-fact.ts'
import { EventStream } from './event-stream.ts'
import { type EphemeralEvent, isPassing } from './events.ts'
import { Feed, type FeedPorts, type PassingStep } from './feed.ts'
import { requireFilter, requireScope, type WideFilter } from './identity.ts'
import { type EventsOptions, Interest } from './interest.ts'
import { positionText, readPosition } from './position.ts'
import { type ReplaySource, replay } from './replay.ts'
import type { Sink } from './sink.ts'
import { Subscription } from './subscription.ts'

export interface BusOptions {
  readonly log: Log
  readonly scheduler: Scheduler
  readonly limits: Pick<Limits, 'subscriberBufferEvents' | 'subscribersPerSession' | 'batchFacts'>
  readonly clock?: Clock
  readonly fair?: FairLoop
}

export interface Bus {
  /** The facts of one step of this process, once they are durable. */
  committed(facts: readonly StoredFact[]): void
  ephemeral(event: EphemeralEvent): void
  /** Throws `IDENTITY_REQUIRED` or `INVALID_INPUT` at once; every other failure ends the stream. */
  events(scope: unknown, options?: EventsOptions): EventStream
  /** For readers with an elevated claim, which the caller has checked and recorded. */
  eventsWide(filter: unknown, options?: EventsOptions): EventStream
  /** The position behind everything that is committed now. */
  position(): Promise<string>
  /** Throws `CURSOR_INVALID` or `CURSOR_TOO_OLD`, as a stream from there would end. */
  checkPosition(after: string): Promise<void>
  /** Subscriptions that live now. */
  readonly subscribers: number
  /** Ends every stream with `bus.closed`; later ones fail with `SHUTTING_DOWN`. */
  close(reason?: string): void
}

export function createBus(options: BusOptions): Bus {
  return new SharedBus(options)
}

/** What a subscription is about, whoever its consumer is. */
interface Topic {
  readonly audience: string
  readonly filter: WideFilter | null
  readonly interest: Interest
  readonly source: ReplaySource
  readonly after: string | undefined
}

/**
 * Owns the audience, and the feed while there is one.
 * 1. There is a feed exactly while somebody listens; publishing to nobody is one comparison.
 * 2. A fact becomes one shared object, and only when somebody hears it.
 * 3. What one subscriber does, or what fails for it, reaches no other.
 */
class SharedBus implements Bus {
  readonly #ports: FeedPorts
  readonly #limits: BusOptions['limits']
  readonly #audience = new Audience()
  #feed: Feed | null = null
  #closed = false

  constructor({ log, scheduler, limits, clock = systemClock, fair }: BusOptions) {
    this.#ports = { log, scheduler, limits, clock, fair: fair ?? new FairLoop(clock, scheduler) }
    this.#limits = limits
  }

  get subscribers(): number {
    return this.#audience.size
  }

  committed(facts: readonly StoredFact[]): void {
    this.#feed?.committed(facts)
  }

  ephemeral(event: EphemeralEvent): void {
    this.#feed?.ephemeral(event)
  }

  events(given: unknown, options: EventsOptions = {}): EventStream {
    const scope = requireScope(given)
    const { log } = this.#ports
    const source: ReplaySource = {
      read: (afterCursor, limit) => log.read(scope, { afterCursor, limit }),
      covers: () => true,
    }
    return this.#stream({ audience: scopeKey(scope), filter: null, source }, options)
  }

  eventsWide(given: unknown, options: EventsOptions = {}): EventStream {
    const filter = requireFilter(given)
    const source: ReplaySource = {
      read: (afterCursor, limit) => this.#ports.log.tail(afterCursor, limit),
      covers: (scope) => covers(filter, scope),
    }
    return this.#stream({ audience: wideKey(filter), filter, source }, options)
  }

  async position(): Promise<string> {
    const { log } = this.#ports
    const [epoch, last] = await Promise.all([log.epoch(), log.lastCursor()])
    return positionText(epoch, Math.max(last, this.#feed?.head ?? 0))
  }

  async checkPosition(after: string): Promise<void> {
    await this.#position(after, { epoch: await this.#ports.log.epoch(), head: this.#feed?.head ?? 0 })
  }

  close(reason = 'shutdown'): void {
    this.#closed = true
    for (const subscription of this.#audience.everyone()) {
      this.#remove(subscription)
      subscription.end({ type: 'bus.closed', reason })
    }
  }

  #stream(about: Pick<Topic, 'audience' | 'filter' | 'source'>, options: EventsOptions): EventStream {
    const topic: Topic = { ...about, interest: new Interest(options), after: options.after }
    return new EventStream((sink) => this.#connect(topic, sink), this.#limits.subscriberBufferEvents)
  }

  #connect(topic: Topic, sink: Sink): () => void {
    const refusal = this.#refusal(topic)
    if (refusal !== null) {
      sink.fail(refusal)
      return () => {}
    }
    const subscription = new Subscription({
      audience: topic.audience,
      sink,
      interest: topic.interest,
      live: topic.after === 'now',
      bufferEvents: this.#limits.subscriberBufferEvents,
    })
    this.#audience.add(subscription, topic.filter)
    this.#feed ??= this.#newFeed()
    // A live one that is added while a step passes belongs to the next step.
    if (topic.after === 'now') subscription.startAfter(this.#feed.head)
    void this.#run(subscription, topic, this.#feed)
    return () => {
      this.#remove(subscription)
      subscription.cancel()
    }
  }

  /** Never rejects: what goes wrong is the subscription's end. */
  async #run(subscription: Subscription, topic: Topic, feed: Feed): Promise<void> {
    try {
      await feed.started
      if (topic.after === 'now' || subscription.over) return
      if (topic.after !== undefined) subscription.startAfter(await this.#position(topic.after, feed))
      await replay(subscription, topic.source, { epoch: feed.epoch, pause: () => feed.pause(), fair: this.#ports.fair })
    } catch (error) {
      this.#fail(subscription, error)
    }
  }

  async #position(after: string, feed: Pick<Feed, 'epoch' | 'head'>): Promise<number> {
    const { log } = this.#ports
    const [last, gone] = await Promise.all([log.lastCursor(), log.retainedAfter?.() ?? 0])
    return readPosition(after, { epoch: feed.epoch, last: Math.max(last, feed.head), gone })
  }

  #newFeed(): Feed {
    return new Feed(this.#ports, {
      step: (step) => this.#spread(step),
      ephemeral: (event) => this.#spreadEphemeral(event),
      fail: (error) => {
        for (const subscription of this.#audience.everyone()) this.#fail(subscription, error)
      },
    })
  }

  #spread(step: PassingStep): void {
    const members = this.#audience.session(step.scope)
    const wide = this.#audience.wide(step.scope)
    if (members === undefined && wide === null) return
    const groups = members === undefined ? (wide ?? []) : [members, ...(wide ?? [])]
    let facts: readonly BusFact[]
    try {
      facts = step.facts().map((fact) => busFact(fact, step.epoch))
    } catch (error) {
      // A damaged step of one session ends the streams of those who hear that session, and nobody else's.
      for (const group of groups) for (const subscription of [...group]) this.#fail(subscription, error)
      return
    }
    for (const group of groups) for (const subscription of group) subscription.hear(facts)
  }

  #spreadEphemeral(event: EphemeralEvent): void {
    const members = this.#audience.session(event)
    if (isPassing(event)) {
      const shared = Object.freeze({ ...event })
      for (const group of this.#audience.wide(event) ?? []) for (const each of group) each.hearPassing(shared)
      for (const each of members ?? []) each.hearPassing(shared)
      return
    }
    for (const each of [...(members ?? [])]) {
      this.#remove(each)
      each.end({ type: 'bus.closed', reason: event.reason })
    }
  }

  #fail(subscription: Subscription, error: unknown): void {
    this.#remove(subscription)
    subscription.fail(error)
  }

  #remove(subscription: Subscription): void {
    if (!this.#audience.remove(subscription) || this.#audience.size > 0) return
    this.#feed?.close()
    this.#feed = null
  }

  #refusal(topic: Topic): LandfallError | null {
    if (this.#closed) return new LandfallError('SHUTTING_DOWN', 'The bus is closed. Open the runtime again.')
    const bound = this.#limits.subscribersPerSession
    const got = this.#audience.count(topic.audience) + 1
    if (got <= bound) return null
    return new LandfallError('LIMIT_EXCEEDED', 'The session has too many subscribers. End one before adding another.', {
      details: { which: 'subscribersPerSession', bound, got },
    })
  }
}
