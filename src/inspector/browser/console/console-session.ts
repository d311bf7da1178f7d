import type { Subscription } from '@xstate/store'
import { Api, ApiProblem, sessionPath } from './api.ts'
import { every } from './browser-timers.ts'
import type { ConsoleStore, Place } from './console-store.ts'
import { offerFile } from './offer-file.ts'
import { PastStates } from './past-states.ts'
import { SessionFeed } from './session-feed.ts'
import { SessionReader } from './session-reader.ts'
import type { Page, SessionEntry } from './shapes.ts'

const listMs = 4_000

interface Answer {
  readonly result?: string
  readonly receipt?: { readonly result: string }
}

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

  open(place: Place): void {
    this.#close()
    this.store.trigger.choose(place)
    const { session } = place
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
    return this.#sent(words, (session) => this.api.command<Answer>(`${sessionPath(session)}/${path}`, body))
  }

  /** Removes all content of the open session for ever. */
  async erase(): Promise<boolean> {
    return this.#sent('Erase', (session) => this.api.command<Answer>(sessionPath(session), { cancel: true }, 'DELETE'))
  }

  /** Gives a document of the open session to the browser, to be kept as a file. */
  async download(path: string, as: { readonly name: string; readonly type: string }): Promise<void> {
    const { session } = this.store.getSnapshot().context
    if (session === null) return
    try {
      const text = await this.api.text(`${sessionPath(session)}/${path}`, as.type)
      const isEmpty = text.trim() === ''
      if (!isEmpty) offerFile(text, as)
      const told = isEmpty ? 'There is nothing in it.' : `${as.name} was given to the browser.`
      this.store.trigger.say({ notice: { isProblem: false, text: told } })
    } catch (error) {
      this.#failed(error)
    }
  }

  async #sent(words: string, send: (session: string) => Promise<Answer>): Promise<boolean> {
    const { session } = this.store.getSnapshot().context
    if (session === null) return false
    try {
      const answer = await send(session)
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
