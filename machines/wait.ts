import type { ContentAt } from './content-at.ts'
import type { FactData } from './facts.ts'
import type { CallId, Decision, PauseToken } from './vocabulary.ts'

/** A planner tool whose answer waits: it has begun, and its tool message follows when it has come to an end. One a task at a time. */
export type Wait = Question | Join

/** For the operator. */
export interface Question {
  readonly kind: 'question'
  readonly call: CallId
  readonly token: PauseToken
  /** The arguments of the call, as content. */
  readonly asked: ContentAt
  readonly decision: Decision | null
}

/** For other tasks. */
export interface Join {
  readonly kind: 'join'
  readonly call: CallId
  readonly settled: FactData['task.await_settled'] | null
}
