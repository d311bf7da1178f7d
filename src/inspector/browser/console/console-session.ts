import type { Subscription } from '@xstate/store'
import { Api, problemText, sessionPath } from './api.ts'
import type { ConsoleStore, Place } from './console-store.ts'
import { offerFile } from './offer-file.ts'
import { PastStates } from './past-states.ts'
import { isFolded } from './place.ts'
import { SessionFeed } from './session-feed.ts'
import { SessionLister } from './session-lister.ts'
import { SessionReader } from './session-reader.ts'
import { leaving, nothing, unsentKey } from './unsent.ts'

/** Why a name that is only dots is not opened. */
export const foldedName =
  'A browser takes a name of one or two dots out of every address, so no request can name it. Choose another name.'

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
 * 2. Of two equal commands at once, one is sent: a second click is none.
 * 3. One message of a session is on its way at a time.
 */
export class ConsoleSession {
  readonly api: Api
  readonly store: ConsoleStore
  readonly lister: SessionLister
  #opened: Opened | null = null
  readonly #underWay = new Map<string, Promise<boolean>>()

  constructor(store: ConsoleStore) {
    this.store = store
    this.api = new Api(() => store.getSnapshot().context.credentials)
    this.lister = new SessionLister(this.api, store)
  }

  open(place: Place): void {
    this.#close()
    this.store.trigger.choose(place)
    const { session } = place
    if (session === null) return
    if (isFolded(session)) return this.store.trigger.refused({ problem: foldedName })
    const { api, store } = this
    const reader = new SessionReader(api, store, session)
    const past = new PastStates(api, store, session)
    const feed = new SessionFeed({
      api,
      store,
      session,
      onFacts: (facts) => {
        reader.changed(facts)
        if (facts.some(({ type }) => /^(session|task|mutation)\./.test(type))) void this.lister.changed(session)
      },
    })
    const looking = store.subscribe(({ context }) => past.look(context.at))
    this.#opened = { feed, reader, past, looking }
  }

  /** Sends a command to the open session and says what came of it. */
  async act(words: string, path: string, body: object = {}): Promise<boolean> {
    return this.#once(`${path} ${JSON.stringify(body)}`, words, (session) =>
      this.api.command<Answer>(`${sessionPath(session)}/${path}`, body),
    )
  }

  /** Names a box of the open session. */
  boxKey(box: string): string {
    const { credentials, session } = this.store.getSnapshot().context
    return unsentKey(credentials, session ?? '', box)
  }

  /** Sends what is in a box, which is empty at once. */
  async sendBox(box: string, words: string, { path, body }: { path: string; body: object }): Promise<void> {
    const key = this.boxKey(box)
    const before = this.store.getSnapshot().context.unsent[key] ?? nothing
    if (before.sending !== null) return
    this.store.trigger.write({ key, unsent: leaving(before) })
    const isTaken = await this.act(words, path, body)
    this.store.trigger.sent({ key, isTaken })
  }

  /** Removes all content of the open session for ever. */
  async erase(): Promise<boolean> {
    return this.#once('erase', 'Erase', (session) =>
      this.api.command<Answer>(sessionPath(session), { cancel: true }, 'DELETE'),
    )
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

  #once(what: string, words: string, send: (session: string) => Promise<Answer>): Promise<boolean> {
    const { session } = this.store.getSnapshot().context
    if (session === null) return Promise.resolve(false)
    const key = JSON.stringify([session, what])
    const known = this.#underWay.get(key)
    if (known !== undefined) return known
    const sent = this.#sent(session, words, send).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, sent)
    return sent
  }

  async #sent(session: string, words: string, send: (session: string) => Promise<Answer>): Promise<boolean> {
    // An answer may come when another session is open, and then says which one it is of.
    const of = () => (this.store.getSnapshot().context.session === session ? '' : `${session}: `)
    try {
      const answer = await send(session)
      const result = answer.receipt?.result ?? answer.result ?? 'applied'
      const told: Readonly<Record<string, string>> = {
        queued: 'queued',
        joined: 'joined what was under way',
        too_late: 'too late, it had ended',
      }
      this.store.trigger.say({
        notice: { isProblem: result === 'too_late', text: `${of()}${words}: ${told[result] ?? 'done'}.` },
      })
      return result !== 'too_late'
    } catch (error) {
      this.#failed(error, of())
      return false
    }
  }

  #failed(error: unknown, of = ''): void {
    this.store.trigger.say({ notice: { isProblem: true, text: `${of}${problemText(error)}` } })
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
