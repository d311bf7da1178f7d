import { type Api, ApiProblem, problemText, sessionPath } from './api.ts'
import { every } from './browser-timers.ts'
import type { ConsoleStore } from './console-store.ts'
import type { Page, SessionEntry } from './shapes.ts'

const listMs = 4_000

/**
 * Owns: the list of sessions, which is read again and again.
 * 1. One read is under way at a time; who asks for it meanwhile has it read once more.
 * 2. A list of several pages is read so many times less often. Of the session that is open the list is kept up to date all the time.
 * 3. What one reader is told is not for the next one.
 */
export class SessionLister {
  readonly #api: Api
  readonly #store: ConsoleStore
  #isListing = false
  #isDue = false
  #pages = 1
  /** Times that the clock strikes without a read. */
  #rests = 0

  constructor(api: Api, store: ConsoleStore) {
    this.#api = api
    this.#store = store
    every(listMs, () => {
      if (document.hidden) return
      if (this.#rests > 0) this.#rests -= 1
      else void this.list()
    })
  }

  async list(): Promise<void> {
    this.#isDue = true
    if (this.#isListing) return
    this.#isListing = true
    while (this.#isDue) {
      this.#isDue = false
      await this.#read()
    }
    this.#isListing = false
  }

  /** Something has changed in this session. */
  async changed(session: string): Promise<void> {
    if (this.#pages === 1) return this.list()
    const isOther = this.#isOther()
    try {
      const entry = await this.#api.get<SessionEntry>(sessionPath(session))
      const others = (this.#store.getSnapshot().context.sessions ?? []).filter((each) => each.session !== session)
      if (!isOther()) this.#show([entry, ...others])
    } catch {
      // The next reading of the whole list tells what is wrong.
    }
  }

  async #read(): Promise<void> {
    const isOther = this.#isOther()
    const found: SessionEntry[] = []
    let pages = 0
    try {
      for (let from: string | null = ''; from !== null; pages += 1) {
        const page: Page<SessionEntry> = await this.#api.get(`sessions?limit=1000${from}`)
        if (isOther()) return
        found.push(...page.items)
        from = page.next === undefined ? null : `&after=${encodeURIComponent(page.next)}`
      }
      this.#pages = pages
      this.#rests = pages - 1
      this.#show(found)
    } catch (error) {
      if (isOther()) return
      const isRefused = error instanceof ApiProblem && error.isRefusal
      this.#store.trigger.unlisted({ problem: problemText(error), isRefused })
    }
  }

  /** The newest first, which those at work are among. */
  #show(sessions: readonly SessionEntry[]): void {
    this.#store.trigger.sessions({ sessions: sessions.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)) })
  }

  #isOther(): () => boolean {
    const { credentials } = this.#store.getSnapshot().context
    return () => this.#store.getSnapshot().context.credentials !== credentials
  }
}
