import { type Api, ApiProblem, problemText, sessionPath } from './api.ts'
import { after, pause } from './browser-timers.ts'
import type { ConsoleStore } from './console-store.ts'
import type { Fact, Message, Page, Pause, SessionState } from './shapes.ts'

/** How long facts are waited for before what they changed is read. */
const gatherMs = 60
const againMs = 1_500

/**
 * Reads what facts only name: the folded state, the words of messages, open pauses.
 * 1. One read is under way at a time; what changes meanwhile is read by the next one.
 * 2. Whatever it puts into the store is of its own session.
 */
export class SessionReader {
  readonly #api: Api
  readonly #store: ConsoleStore
  readonly #path: string
  readonly #over = new AbortController()
  #messagesTo = 0
  #hasMessages = true
  #hasPauses = true
  #isDue = false
  #isReading = false

  constructor(api: Api, store: ConsoleStore, session: string) {
    this.#api = api
    this.#store = store
    this.#path = sessionPath(session)
  }

  stop(): void {
    this.#over.abort()
  }

  changed(facts: readonly Fact[]): void {
    for (const { type } of facts) {
      if (type === 'message.added') this.#hasMessages = true
      if (type.startsWith('pause.') || type.startsWith('task.')) this.#hasPauses = true
    }
    // The stream began anew: so do the messages.
    if (facts[0]?.seq === 1) this.#messagesTo = 0
    this.#isDue = true
    void this.#read()
  }

  async #read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#isDue && !this.#over.signal.aborted) {
        await pause(gatherMs)
        this.#isDue = false
        await this.#readOnce()
      }
    } catch (error) {
      if (!this.#over.signal.aborted) this.#tryLater(error)
    } finally {
      this.#isReading = false
    }
  }

  async #readOnce(): Promise<void> {
    const { signal } = this.#over
    const through = this.#store.getSnapshot().context.facts.length
    const had = { messages: this.#hasMessages, pauses: this.#hasPauses }
    this.#hasMessages = false
    this.#hasPauses = false
    try {
      const [live, messages, pauses] = await Promise.all([
        this.#api.get<SessionState>(`${this.#path}/state`, signal),
        had.messages ? this.#messages() : null,
        had.pauses ? this.#api.get<Page<Pause>>(`${this.#path}/pauses?limit=1000`, signal) : null,
      ])
      if (signal.aborted) return
      this.#store.trigger.live({ live })
      if (pauses !== null) this.#store.trigger.pauses({ pauses: pauses.items })
      this.#messagesTo = messages?.at(-1)?.seq ?? this.#messagesTo
      this.#store.trigger.messages({ messages: messages ?? [], through })
    } catch (error) {
      this.#hasMessages ||= had.messages
      this.#hasPauses ||= had.pauses
      throw error
    }
  }

  async #messages(): Promise<readonly Message[]> {
    const found: Message[] = []
    let after: string | number | undefined = this.#messagesTo
    while (after !== undefined) {
      const page: Page<Message> = await this.#api.get(
        `${this.#path}/messages?limit=1000&after=${after}`,
        this.#over.signal,
      )
      found.push(...page.items)
      after = page.next
    }
    return found
  }

  #tryLater(error: unknown): void {
    if (error instanceof ApiProblem && error.isRefusal && error.status !== 404) {
      const isOfReader = error.status === 401 || error.status === 403
      if (isOfReader) this.#store.trigger.refused({ problem: problemText(error) })
      return
    }
    after(againMs, () => {
      this.#isDue = true
      void this.#read()
    })
  }
}
