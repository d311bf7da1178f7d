import { LandfallError } from '../facts/errors.ts'
import type { FairLoop } from '../facts/fair-loop.ts'
import type { AppendResult, Log, StepAppend } from '../facts/log-port.ts'
import type { Scheduler } from '../facts/ports.ts'

interface Waiting {
  readonly step: StepAppend
  readonly resolve: (result: AppendResult) => void
}

/** Times that a batch whose result is unknown is appended again, with the same fact ids, before the sessions give up. */
const settleAttempts = 3
/** Steps of one append. A commit costs about as much as one of them, so more would save little and hold the loop up longer. */
const batchSteps = 32

/**
 * Owns: the queue of steps that wait for the store.
 * 1. Steps of many sessions share one append; each has its own result, so one failure fails one session.
 * 2. One append is under way at a time, and a batch holds at most `batchSteps` steps and, unless it is one step, `batchFacts` facts. It begins
 *    when the loop's stretch has room, so that the work of the same turn and an append do not add up to a long block.
 * 3. An append whose result is unknown is settled by appending the same steps again; a step is stored once.
 */
export class Committer {
  readonly #log: Pick<Log, 'append'>
  readonly #scheduler: Scheduler
  readonly #fair: FairLoop
  readonly #batchFacts: number
  #waiting: Waiting[] = []
  #busy = false
  #scheduled = false
  #idle: (() => void)[] = []

  constructor(
    log: Pick<Log, 'append'>,
    ports: { readonly scheduler: Scheduler; readonly fair: FairLoop },
    batchFacts: number,
  ) {
    this.#log = log
    this.#scheduler = ports.scheduler
    this.#fair = ports.fair
    this.#batchFacts = batchFacts
  }

  commit(step: StepAppend): Promise<AppendResult> {
    return new Promise((resolve) => {
      this.#waiting.push({ step, resolve })
      this.#schedule()
    })
  }

  /** Resolves when nothing is queued or under way. */
  async drained(): Promise<void> {
    if (this.#waiting.length === 0 && !this.#busy) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #schedule(): void {
    if (this.#busy || this.#scheduled || this.#waiting.length === 0) return
    this.#scheduled = true
    this.#scheduler.soon(() => {
      this.#scheduled = false
      void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    while (this.#fair.spent) await this.#fair.turn()
    const batch = this.#nextBatch()
    const results = await this.#append(batch.map((waiting) => waiting.step))
    this.#busy = false
    for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as AppendResult)
    if (this.#waiting.length > 0) this.#schedule()
    else for (const resolve of this.#idle.splice(0)) resolve()
  }

  #nextBatch(): readonly Waiting[] {
    let facts = 0
    let count = 0
    for (const { step } of this.#waiting) {
      if (count === batchSteps || (count > 0 && facts + step.count > this.#batchFacts)) break
      facts += step.count
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  async #append(steps: readonly StepAppend[]): Promise<readonly AppendResult[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#log.append(steps)
      } catch (error) {
        if (attempt >= settleAttempts) return steps.map(() => ({ ok: false, error: asError(error) }))
      }
    }
  }
}

function asError(error: unknown): LandfallError {
  if (error instanceof LandfallError) return error
  return new LandfallError('STORE_BUSY', 'The store failed and did not say why. Try again.', {
    retryable: true,
    cause: error,
  })
}
