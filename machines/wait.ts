import type { ContentAt } from './content-at.ts'
import type { CallId, Decision, PauseToken } from './vocabulary.ts'

/** A planner tool whose answer waits: it has begun, and its tool message follows when it has come to an end. One a task at a time. */
export interface Wait {
  readonly kind: 'question'
  readonly call: CallId
  readonly token: PauseToken
  /** The arguments of the call, as content. */
  readonly asked: ContentAt
  readonly decision: Decision | null
}
