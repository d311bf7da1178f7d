import { type Api, ApiProblem, problemText, sessionPath } from './api.ts'
import { after, pause } from './browser-timers.ts'
import type { ConsoleStore } from './console-store.ts'
import type { Delta, Fact } from './shapes.ts'
import { type SseFrame, sseFrames } from './sse-frames.ts'

const retryMs = 1_000
/** A server says something every fifteen seconds. */
const silenceMs = 45_000
/** How long events are gathered before the page is drawn again. */
const gatherMs = 30

type StreamedFact = Fact & { readonly resume: string }

/**
 * Follows the stream of one session into the store.
 * 1. Facts enter the store in the order of their seq, each once and without a hole; where one is missing, or facts were dropped, the
 *    stream is opened anew behind the last fact that is there.
 * 2. It goes on until `stop`, or until the server refuses the reader.
 */
export class SessionFeed {
  readonly #api: Api
  readonly #store: ConsoleStore
  readonly #session: string
  readonly #onFacts: (facts: readonly Fact[]) => void
  readonly #over = new AbortController()
  #connection = new AbortController()
  #position: string | null = null
  #seq = 0
  #facts: Fact[] = []
  #deltas: Delta[] = []
  #timer: (() => void) | null = null

  constructor(of: { api: Api; store: ConsoleStore; session: string; onFacts: (facts: readonly Fact[]) => void }) {
    this.#api = of.api
    this.#store = of.store
    this.#session = of.session
    this.#onFacts = of.onFacts
    void this.#run()
  }

  stop(): void {
    this.#over.abort()
    this.#connection.abort()
    this.#timer?.()
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        const isWhole = await this.#follow()
        if (!isWhole) continue
      } catch (error) {
        if (this.#over.signal.aborted || this.#refused(error)) return
      }
      if (this.#over.signal.aborted) return
      this.#store.trigger.link({ link: 'lost' })
      await pause(retryMs)
    }
  }

  /** One connection. False when it must be opened anew at once because something is missing. */
  async #follow(): Promise<boolean> {
    this.#connection = new AbortController()
    const { signal } = this.#connection
    if (this.#seq === 0) this.#store.trigger.link({ link: 'connecting' })
    let silence = () => {}
    const heard = () => {
      silence()
      silence = after(silenceMs, () => this.#connection.abort())
    }
    heard()
    try {
      const body = await this.#api.stream(`${sessionPath(this.#session)}/events`, this.#position, signal)
      this.#store.trigger.link({ link: 'live' })
      for await (const frame of sseFrames(body, heard)) {
        if (this.#over.signal.aborted) return true
        if (!this.#take(frame)) return false
      }
      return true
    } finally {
      silence()
      this.#connection.abort()
      this.#flush()
    }
  }

  /** False for a sign that facts are missing. */
  #take({ event, data }: SseFrame): boolean {
    if (data === '' || event === 'bus.closed') return true
    if (event === 'bus.dropped') return false
    const told: unknown = JSON.parse(data)
    if (event === 'model.delta') this.#deltas.push(told as Delta)
    else if (event === 'call.progress') {
      const { call, note } = told as { call: string; note: string }
      this.#store.trigger.progress({ call, note })
    } else {
      const fact = told as StreamedFact
      if (fact.seq <= this.#seq) return true
      if (fact.seq > this.#seq + 1) return false
      this.#seq = fact.seq
      this.#position = fact.resume
      this.#facts.push(slim(fact))
    }
    this.#timer ??= after(gatherMs, () => this.#flush())
    return true
  }

  #flush(): void {
    this.#timer?.()
    this.#timer = null
    if (this.#over.signal.aborted) return
    const facts = this.#facts
    const deltas = this.#deltas
    this.#facts = []
    this.#deltas = []
    if (deltas.length > 0) this.#store.trigger.deltas({ deltas })
    if (facts.length === 0) return
    this.#store.trigger.facts({ facts })
    this.#onFacts(facts)
  }

  /** True when there is no use in trying again. A position of another store, or one that is gone, is given up for the beginning. */
  #refused(error: unknown): boolean {
    if (!(error instanceof ApiProblem)) return false
    if (error.code === 'CURSOR_INVALID' || error.code === 'CURSOR_TOO_OLD') {
      this.#position = null
      this.#seq = 0
      this.#store.trigger.restart()
      return false
    }
    if (!error.isRefusal) return false
    this.#store.trigger.refused({ problem: problemText(error) })
    return true
  }
}

function slim({ seq, type, at, task, call, by, data }: Fact): Fact {
  return { seq, type, at, task, call, by, data }
}
