import type { TaskActorRef } from './actors/actor-refs.ts'
import type { Receipt } from './command.ts'
import type { Outcome } from './outcome.ts'
import type { SessionReads } from './session-reads.ts'

export class TaskHandle {
  readonly id: string
  readonly #receipt: Receipt | null
  readonly #reads: SessionReads
  #actor: TaskActorRef | null = null

  constructor(id: string, receipt: Receipt | null, reads: SessionReads) {
    this.id = id
    this.#receipt = receipt
    this.#reads = reads
  }

  /** What the command that gave this handle did. A handle by id alone has the id and nothing more. */
  get receipt(): Receipt {
    return this.#receipt ?? { result: 'applied', task: this.id }
  }

  /** The task as an XState actor: it shows what is committed and takes the operator's commands about the task. */
  get actor(): TaskActorRef {
    const status = this.#actor?.getSnapshot().status
    if (this.#actor === null || status === 'stopped' || status === 'error') this.#actor = this.#reads.taskActor(this.id)
    return this.#actor
  }

  /** The idempotency key had made this task before; nothing new was begun. */
  get reused(): boolean {
    return this.#receipt?.reused === true
  }

  /** Waits for the terminal fact, however long it takes; an outcome that stands already is read from the log. */
  outcome(): Promise<Outcome> {
    return this.#reads.outcome(this.id)
  }
}
