import type { AwaitResult } from '../../machines/facts-of-work.ts'
import type { CommandOptions, Receipt } from './command.ts'
import { givenOptions } from './given-options.ts'

/** How a group came to its end, and its members: cached, the same for whoever asks later. */
export interface GroupOutcome {
  readonly status: 'resolved' | 'cancelled'
  readonly results: readonly AwaitResult[]
  readonly seq: number
}

interface GroupActs {
  readonly seal: (options: CommandOptions) => Promise<Receipt>
  readonly cancel: (options: CommandOptions) => Promise<Receipt>
  readonly outcome: () => Promise<GroupOutcome>
}

/** A handle on background tasks that belong together. Holds nothing itself. */
export class GroupHandle {
  readonly id: string
  readonly #acts: GroupActs

  constructor(id: string, acts: GroupActs) {
    this.id = id
    this.#acts = acts
  }

  /** No more members: the group resolves when those it has are at their ends. */
  async seal(options: CommandOptions = {}): Promise<Receipt> {
    return this.#acts.seal(givenOptions(options))
  }

  /** Cancels every member that lives, with what is below it. */
  async cancel(options: CommandOptions = {}): Promise<Receipt> {
    return this.#acts.cancel(givenOptions(options))
  }

  /** Waits until the group is resolved, or cancelled and its last member at its end. */
  outcome(): Promise<GroupOutcome> {
    return this.#acts.outcome()
  }
}
