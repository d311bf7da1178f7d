import { unpackStep } from '../facts/codec.ts'
import type { StoredFact } from '../facts/envelope.ts'
import { isLandfallError } from '../facts/errors.ts'
import type { FairLoop } from '../facts/fair-loop.ts'
import type { Limits } from '../facts/limits.ts'
import type { Log } from '../facts/log-port.ts'
import type { Clock, Scheduler } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { type EphemeralEvent, isPassing } from './events.ts'

const pageSteps = 64
const retryMs = 10
const retryMostMs = 1_000
const triesOnError = 5

/** Facts of one step on their way; unpacked only when somebody wants them. */
export interface PassingStep {
  readonly scope: Scope
  readonly epoch: string
  facts(): readonly StoredFact[]
}

export interface FeedPorts {
  readonly log: Log
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly fair: FairLoop
  readonly limits: Pick<Limits, 'subscriberBufferEvents' | 'batchFacts'>
}

/** None of these throws. */
export interface FeedListener {
  step(step: PassingStep): void
  ephemeral(event: EphemeralEvent): void
  /** The store cannot be read; nothing more will come. */
  fail(error: unknown): void
}

/**
 * The one order of the bus, made of what this process commits and of what the log's tail shows. Lives while somebody listens.
 * 1. Steps pass in cursor order, each once. `#head` is the cursor of the last one that passed.
 * 2. An own step passes at once when it follows `#head` without a gap. Otherwise it is held and the tail is read, which knows
 *    whether the gap is another process's step or no step at all; so a gap is never waited for in vain.
 * 3. What is held is bounded: beyond the bound an own step is let go, because the tail has it too.
 * 4. An ephemeral event passes after all facts that were told before it.
 * 5. Nothing passes from within the passing of something else, so all subscribers see one order.
 */
export class Feed {
  readonly started: Promise<void>
  readonly #ports: FeedPorts
  readonly #listener: FeedListener
  readonly #held = new Map<number, readonly StoredFact[]>()
  readonly #waiting: { readonly event: EphemeralEvent; readonly behind: number }[] = []
  #state: 'starting' | 'live' | 'closed' = 'starting'
  #epoch = ''
  #head = 0
  /** The highest cursor that this process told of. */
  #told = 0
  /** While starting: what came before the first own step that was told. */
  #floor = Number.POSITIVE_INFINITY
  #heldFacts = 0
  #passing = false
  #due = false
  #pumping = false
  #tries = 0
  #unwatch = (): void => {}
  #cancelRetry = (): void => {}

  constructor(ports: FeedPorts, listener: FeedListener) {
    this.#ports = ports
    this.#listener = listener
    this.started = this.#start()
  }

  /** Known once started. */
  get epoch(): string {
    return this.#epoch
  }

  get head(): number {
    return this.#head
  }

  committed(facts: readonly StoredFact[]): void {
    const first = facts[0]
    const last = facts.at(-1)
    if (first === undefined || last === undefined || this.#state === 'closed') return
    if (this.#state === 'starting') {
      this.#floor = Math.min(this.#floor, first.cursor - 1)
      return
    }
    if (last.cursor <= this.#head) return
    this.#told = Math.max(this.#told, last.cursor)
    if (first.cursor === this.#head + 1 && !this.#passing) {
      this.#passOwn(facts, first, last.cursor)
      this.#settle()
      return
    }
    this.#hold(first.cursor, facts)
    this.#wake()
  }

  ephemeral(event: EphemeralEvent): void {
    if (this.#state !== 'live') return
    this.#waiting.push({ event, behind: this.#told })
    if (this.#waiting.length > this.#ports.limits.subscriberBufferEvents) this.#loseOldest()
    this.#settle()
  }

  close(): void {
    this.#state = 'closed'
    this.#unwatch()
    this.#cancelRetry()
    this.#held.clear()
    this.#waiting.length = 0
  }

  /** Frees the loop for others. */
  pause(): Promise<void> {
    return new Promise((resolve) => this.#ports.scheduler.soon(resolve))
  }

  async #start(): Promise<void> {
    const { log } = this.#ports
    const [epoch, last] = await Promise.all([log.epoch(), log.lastCursor()])
    if (this.#state === 'closed') return
    this.#epoch = epoch
    this.#head = Math.min(last, this.#floor)
    this.#state = 'live'
    this.#unwatch = log.watch(() => this.#wake())
    // What was committed between the question for the last cursor and the watch would otherwise be heard of only with the next.
    this.#wake()
  }

  #passOwn(facts: readonly StoredFact[], scope: Scope, cursor: number): void {
    this.#pass({ scope, epoch: this.#epoch, facts: () => facts }, cursor)
  }

  #pass(step: PassingStep, cursor: number): void {
    this.#head = cursor
    this.#passing = true
    this.#listener.step(step)
    this.#passing = false
  }

  /** Lets everything pass whose turn has come, until nothing more follows. */
  #settle(): void {
    while (!this.#passing && this.#state === 'live') {
      if (this.#passWaiting()) continue
      const next = this.#take(this.#head + 1)
      const first = next?.[0]
      const last = next?.at(-1)
      if (next === undefined || first === undefined || last === undefined) return
      this.#passOwn(next, first, last.cursor)
    }
  }

  #passWaiting(): boolean {
    const oldest = this.#waiting[0]
    if (oldest === undefined || oldest.behind > this.#head) return false
    this.#waiting.shift()
    this.#passing = true
    this.#listener.ephemeral(oldest.event)
    this.#passing = false
    return true
  }

  /** The end of a stream is not lost: it is no loss notice's business. */
  #loseOldest(): void {
    const index = this.#waiting.findIndex(({ event }) => isPassing(event))
    if (index >= 0) this.#waiting.splice(index, 1)
  }

  #hold(cursor: number, facts: readonly StoredFact[]): void {
    if (this.#held.has(cursor) || this.#heldFacts + facts.length > this.#ports.limits.batchFacts) return
    this.#held.set(cursor, facts)
    this.#heldFacts += facts.length
  }

  #take(cursor: number): readonly StoredFact[] | undefined {
    if (this.#heldFacts === 0) return undefined
    const facts = this.#held.get(cursor)
    if (facts === undefined || !this.#held.delete(cursor)) return undefined
    this.#heldFacts -= facts.length
    return facts
  }

  #wake(): void {
    if (this.#state !== 'live') return
    this.#due = true
    if (this.#pumping) return
    this.#pumping = true
    this.#ports.scheduler.soon(() => {
      void this.#pump()
    })
  }

  async #pump(): Promise<void> {
    try {
      while (this.#due && this.#state === 'live') {
        this.#due = false
        if (!(await this.#readTail())) continue
        this.#due = true
        await this.pause()
      }
      if (this.#told <= this.#head) this.#tries = 0
      else this.#retry()
    } catch (error) {
      this.#troubled(error)
    } finally {
      this.#pumping = false
    }
  }

  /** True when there may be more. */
  async #readTail(): Promise<boolean> {
    const steps = await this.#ports.log.tail(this.#head, pageSteps)
    const burst = Math.max(1, this.#ports.limits.subscriberBufferEvents >> 2)
    let facts = 0
    for (const step of steps) {
      if (this.#state !== 'live') return false
      if (step.cursor <= this.#head) continue
      const own = this.#take(step.cursor - step.count + 1)
      const unpacked = (): readonly StoredFact[] => own ?? unpackStep(step, { validate: false })
      this.#pass({ scope: step.scope, epoch: this.#epoch, facts: unpacked }, step.cursor)
      this.#settle()
      facts += step.count
      if (facts < burst && !this.#ports.fair.spent) continue
      // A consumer that keeps up gets a turn before its buffer is full.
      facts = 0
      await this.#ports.fair.turn()
    }
    return steps.length === pageSteps
  }

  #troubled(error: unknown): void {
    if (this.#state !== 'live') return
    if (isLandfallError(error) && error.retryable && this.#tries < triesOnError) this.#retry()
    else this.#listener.fail(error)
  }

  #retry(): void {
    if (this.#state !== 'live') return
    const wait = Math.min(retryMs * 2 ** this.#tries, retryMostMs)
    this.#tries += 1
    this.#cancelRetry()
    this.#cancelRetry = this.#ports.scheduler.at(this.#ports.clock.now() + wait, () => this.#wake())
  }
}
