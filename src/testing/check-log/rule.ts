import type { StoredFact } from '../../facts/envelope.ts'
import type { SessionView } from './session-view.ts'
import type { CallView, TaskView } from './task-view.ts'
import type { Invariant, Report } from './violation.ts'

/** One fact with the state before it. `task` and `call` are those that the envelope names, when they live. */
export interface Judged {
  readonly view: SessionView
  readonly fact: StoredFact
  readonly task: TaskView | undefined
  readonly call: CallView | undefined
  readonly report: (invariant: Invariant, message: string) => void
}

export interface Rule {
  /** Judges one fact against the state before it. */
  readonly fact?: (judged: Judged) => void
  /** Judges the state after the last fact of a step: what must stand in the same step is there by now. */
  readonly stepEnd?: (view: SessionView, report: Report) => void
}
