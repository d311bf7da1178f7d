import type { CallCounts, Status, Usage } from '../../machines/vocabulary.ts'

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
