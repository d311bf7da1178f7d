import { hash } from 'node:crypto'
import { digestOfEntry, type View, type ViewEntry } from '../../machines/view.ts'
import { inputTaskOf, openCallsAfter } from '../context/conversation.ts'
import { occupancyOfMessage } from '../context/occupancy.ts'
import { LandfallError } from '../facts/errors.ts'
import type { ModelMessage } from '../facts/ports.ts'

/**
 * Owns: one view of the conversation as requests send it, with what is known of it so far.
 * 1. It follows the folded view: by the entries behind `#upTo`, so that a step costs what is new; from the beginning only after
 *    a compaction.
 * 2. `rolling` is the digest over the digests of the entries, one after the other; `occupancy` the sum of their bytes.
 * 3. The pairing of calls and results is checked as messages arrive, so that no request needs a scan.
 */
export class RequestView {
  #messages: ModelMessage[] = []
  #generation = 0
  #upTo = 0
  #open: readonly string[] = []
  #broken = false
  /** Where the first user message of each task stands. */
  readonly inputAt = new Map<string, number>()
  rolling = ''
  occupancy = 0

  get length(): number {
    return this.#messages.length
  }

  follow(view: View, render: (entry: ViewEntry) => ModelMessage): void {
    if (view.generation !== this.#generation) this.#restart(view.generation)
    for (; this.#upTo < view.entries.length; this.#upTo += 1) {
      const entry = view.entries[this.#upTo] as ViewEntry
      this.#add(entry, render(entry))
    }
  }

  #restart(generation: number): void {
    this.#messages = []
    this.#generation = generation
    this.#upTo = 0
    this.#open = []
    this.#broken = false
    this.inputAt.clear()
    this.rolling = ''
    this.occupancy = 0
  }

  #add(entry: ViewEntry, message: ModelMessage): void {
    const open = openCallsAfter(this.#open, message)
    if (open === null) this.#broken = true
    else this.#open = open
    const task = inputTaskOf(entry)
    if (task !== null && !this.inputAt.has(task)) this.inputAt.set(task, this.#messages.length)
    this.#messages.push(message)
    this.rolling = rolled(this.rolling, entry)
    this.occupancy += occupancyOfMessage(message)
  }

  /** The messages of a request: a frozen list of the shared, frozen messages. */
  take(): readonly ModelMessage[] {
    if (this.#broken || this.#open.length > 0)
      throw new LandfallError(
        'REQUEST_INVALID',
        'A request would hold a call without its result. Report this as a bug.',
      )
    return Object.freeze(this.#messages.slice())
  }
}

/** The digest over entries, one after the other, with one more. */
export function rolled(before: string, entry: ViewEntry): string {
  return hash('sha256', before + digestOfEntry(entry), 'hex')
}
