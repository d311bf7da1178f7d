import type { CallCounts, Status, Usage } from '../../machines/vocabulary.ts'
import type { Receipt } from './command.ts'
import type { SessionReads } from './session-reads.ts'

/** The one terminal outcome of a task. `message` is the final text; `seq` is that of the terminal fact. */
export interface Outcome {
  readonly status: Status
  readonly message?: string
  readonly messageId?: string
  readonly code?: string
  readonly reason?: string
  readonly usage: Usage
  readonly steps: number
  readonly calls: CallCounts
  readonly pendingSteering: readonly string[]
  readonly seq: number
}

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
