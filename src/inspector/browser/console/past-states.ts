import { type Api, ApiProblem, sessionPath } from './api.ts'
import { after } from './browser-timers.ts'
import type { ConsoleStore } from './console-store.ts'
import type { SessionState } from './shapes.ts'

/** How long a moment must be looked at before its state is asked for. */
const restMs = 120
const kept = 100

/**
 * States of moments that are looked at.
 * 1. A moment that is passed over is not asked for, and one question is under way at a time.
 * 2. The past does not change: a state that was here once is not asked for while it is kept.
 */
export class PastStates {
  readonly #api: Api
  readonly #store: ConsoleStore
  readonly #session: string
  readonly #states = new Map<number, SessionState>()
  #callOff = () => {}
  #question = new AbortController()
  #wanted: number | null = null

  constructor(api: Api, store: ConsoleStore, session: string) {
    this.#api = api
    this.#store = store
    this.#session = session
  }

  stop(): void {
    this.#callOff()
    this.#question.abort()
  }

  look(at: number | null): void {
    if (at === this.#wanted) return
    this.stop()
    this.#wanted = at
    if (at === null) return
    const known = this.#states.get(at)
    if (known !== undefined) this.#store.trigger.past({ past: known })
    else this.#callOff = after(restMs, () => void this.#ask(at))
  }

  async #ask(at: number): Promise<void> {
    this.#question = new AbortController()
    const { signal } = this.#question
    try {
      const past = await this.#api.get<SessionState>(`${sessionPath(this.#session)}/state?at=${at}`, signal)
      const [oldest] = this.#states.keys()
      if (this.#states.size >= kept && oldest !== undefined) this.#states.delete(oldest)
      this.#states.set(at, past)
      if (!signal.aborted) this.#store.trigger.past({ past })
    } catch (error) {
      if (signal.aborted) return
      const text = error instanceof ApiProblem ? `${error.code}: ${error.message}` : 'The state could not be read.'
      this.#store.trigger.say({ notice: { isProblem: true, text } })
    }
  }
}
