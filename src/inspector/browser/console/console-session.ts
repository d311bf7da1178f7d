import type { Subscription } from '@xstate/store'
import { Api, ApiProblem, sessionPath } from './api.ts'
import { every } from './browser-timers.ts'
import type { ConsoleStore } from './console-store.ts'
import { PastStates } from './past-states.ts'
import { SessionFeed } from './session-feed.ts'
import { SessionReader } from './session-reader.ts'
import type { Page, SessionEntry } from './shapes.ts'

const listMs = 4_000

interface Opened {
  readonly feed: SessionFeed
  readonly reader: SessionReader
  readonly past: PastStates
  readonly looking: Subscription
}

/**
 * What connects the page with the server: the list of sessions, and the session that is open.
 * 1. At most one session is followed at a time.
 */
export class ConsoleSession {
  readonly api: Api
  readonly store: ConsoleStore
  #opened: Opened | null = null
  #isListing = false

  constructor(store: ConsoleStore) {
    this.store = store
    this.api = new Api(() => store.getSnapshot().context.credentials)
    every(listMs, () => {
      if (!document.hidden) void this.list()
    })
  }

  open(session: string | null): void {
    this.#close()
    this.store.trigger.choose({ session })
    if (session === null) return
    const { api, store } = this
    const reader = new SessionReader(api, store, session)
    const past = new PastStates(api, store, session)
    const feed = new SessionFeed({
      api,
      store,
      session,
      onFacts: (facts) => {
        reader.changed(facts)
        if (facts.some(({ type }) => /^(session|task|mutation)\./.test(type))) void this.list()
      },
    })
    const looking = store.subscribe(({ context }) => past.look(context.at))
    this.#opened = { feed, reader, past, looking }
  }

  /** Sends a command to the open session and says what came of it. */
  async act(words: string, path: string, body: object = {}): Promise<boolean> {
    const { session } = this.store.getSnapshot().context
    if (session === null) return false
    try {
      const answer = await this.api.command<{ result?: string; receipt?: { result: string } }>(
        `${sessionPath(session)}/${path}`,
        body,
      )
      const result = answer.receipt?.result ?? answer.result ?? 'applied'
      const told: Readonly<Record<string, string>> = {
        queued: 'queued',
        joined: 'joined what was under way',
        too_late: 'too late, it had ended',
      }
      this.store.trigger.say({
        notice: { isProblem: result === 'too_late', text: `${words}: ${told[result] ?? 'done'}.` },
      })
      return result !== 'too_late'
    } catch (error) {
      this.#failed(error)
      return false
    }
  }

  async list(): Promise<void> {
    if (this.#isListing) return
    this.#isListing = true
    try {
      const { credentials } = this.store.getSnapshot().context
      const { items } = await this.api.get<Page<SessionEntry>>('sessions?limit=1000')
      if (this.store.getSnapshot().context.credentials !== credentials) return
      this.store.trigger.sessions({ sessions: items.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)) })
    } catch (error) {
      if (error instanceof ApiProblem && error.status !== 0) this.#failed(error)
    } finally {
      this.#isListing = false
    }
  }

  #failed(error: unknown): void {
    const text = error instanceof ApiProblem ? `${error.code}: ${error.message}` : 'Something went wrong in this page.'
    this.store.trigger.say({ notice: { isProblem: true, text } })
  }

  #close(): void {
    if (this.#opened === null) return
    const { feed, reader, past, looking } = this.#opened
    feed.stop()
    reader.stop()
    past.stop()
    looking.unsubscribe()
    this.#opened = null
  }
}
