import { type BusEvent, isFact } from '../../bus/events.ts'
import { systemClock, systemScheduler } from '../../facts/system-ports.ts'
import type { OpenSession } from '../open-session.ts'
import type { Output } from '../output.ts'
import type { ChatPauses } from './chat-pauses.ts'

/** How long the end of a chat waits for its last events. */
const lastEventsMs = 2_000

/**
 * Owns what a chat says of its own accord: what waits for somebody, what nobody knows the outcome of, and how turns end.
 * 1. It is said in the order of the facts; what has to be read for it does not let later facts overtake.
 */
export class ChatWatch {
  readonly #open: OpenSession
  readonly #output: Output
  readonly #pauses: ChatPauses
  readonly #stop: () => void
  #said: Promise<void> = Promise.resolve()
  /** Of the newest fact that was heard. */
  #seq = 0
  #reached: () => void = () => {}
  /** How the newest turn ended. */
  lastStatus: string | null = null

  constructor(open: OpenSession, output: Output, pauses: ChatPauses) {
    this.#open = open
    this.#output = output
    this.#pauses = pauses
    const events = open.runtime.events(open.scope, { after: 'now', ephemeral: output.json })
    const subscription = events.subscribe({ next: (event) => this.#hear(event), error: () => {} })
    this.#stop = () => subscription.unsubscribe()
  }

  /** What stood before the chat began. */
  async begin(): Promise<void> {
    if (this.#output.json) return
    for (const line of await this.#pauses.fresh()) this.#output.line(line)
    const state = await this.#open.session.state().catch(() => null)
    this.#unknown(state?.quarantined ?? [])
  }

  async end(): Promise<void> {
    this.#stop()
    await this.#said
  }

  /** Resolves when everything up to now has been said, or after a while. */
  async caughtUp(): Promise<void> {
    const { seq } = await this.#open.session.state().catch(() => ({ seq: 0 }))
    let cancel = () => {}
    const tooLong = new Promise<void>((resolve) => {
      cancel = systemScheduler().at(systemClock.now() + lastEventsMs, resolve)
    })
    const heard = new Promise<void>((resolve) => {
      this.#reached = () => {
        if (this.#seq >= seq) resolve()
      }
      this.#reached()
    })
    await Promise.race([heard, tooLong])
    cancel()
    await this.#said
  }

  #hear(event: BusEvent): void {
    this.#said = this.#said.then(() => this.#say(event)).catch(() => {})
    if (isFact(event)) this.#seq = event.seq
    this.#reached()
  }

  async #say(event: BusEvent): Promise<void> {
    if (this.#output.json) this.#output.value(event)
    if (!isFact(event)) return
    switch (event.type) {
      case 'pause.requested':
        if (this.#output.json) return
        for (const line of await this.#pauses.fresh()) this.#output.line(line)
        return
      case 'mutation.quarantined':
        return this.#output.json ? undefined : this.#unknown(event.data.calls)
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
      case 'task.superseded':
        return this.#ended(event.task ?? '')
    }
  }

  #unknown(calls: readonly string[]): void {
    if (calls.length === 0) return
    const what =
      calls.length === 1 ? 'A change has an unknown outcome' : `${calls.length} changes have unknown outcomes`
    this.#output.line(`! ${what}; look, then /acknowledge. No other change starts before. ${calls.join(' ')}`)
  }

  async #ended(task: string): Promise<void> {
    const outcome = await this.#open.session.task(task).outcome()
    this.lastStatus = outcome.status
    const { status, message, code, reason } = outcome
    if (this.#output.json) return this.#output.value({ type: 'outcome', task, ...outcome })
    // On a terminal it has been shown as it came.
    if (message !== undefined && this.#output.live === null) this.#output.line(message)
    const why = [code, reason].filter((part) => part !== undefined).join(': ')
    if (status !== 'completed') this.#output.line(`(${status}${why === '' ? '' : `; ${why}`})`)
    this.#output.note(`${status}; ${outcome.usage.total} tokens`)
  }
}
