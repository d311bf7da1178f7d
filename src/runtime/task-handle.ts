import type { Receipt } from './command.ts'
import type { Outcome } from './outcome.ts'
import type { SessionReads } from './session-reads.ts'

export class TaskHandle {
  readonly id: string
  readonly #receipt: Receipt | null
  readonly #reads: SessionReads

  constructor(id: string, receipt: Receipt | null, reads: SessionReads) {
    this.id = id
    this.#receipt = receipt
    this.#reads = reads
  }

  /** What the command that gave this handle did. A handle by id alone has the id and nothing more. */
  get receipt(): Receipt {
    return this.#receipt ?? { result: 'applied', task: this.id }
  }

  /** Waits for the terminal fact, however long it takes; an outcome that stands already is read from the log. */
  outcome(): Promise<Outcome> {
    return this.#reads.outcome(this.id)
  }
}
