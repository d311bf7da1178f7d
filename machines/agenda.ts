import type { Draft, FactData, FactType } from './facts.ts'
import type {
  AbandonReason,
  CallId,
  Decision,
  Digest,
  GroupId,
  PauseToken,
  Status,
  SteeringFate,
  TaskId,
  UnknownReason,
} from './vocabulary.ts'

/**
 * What a chart asks for beside the next state. An agenda item becomes facts in the same step, depth first: what follows from a
 * fact stands directly behind it. A *draft* is a fact that needs only id, seq and time; an *ask* is answered by the runtime with
 * drafts, because its answer needs ids, digests, the catalog or the conversation. Neither performs anything.
 */
export type Ask =
  /** Snapshot of the catalog, grants, model, deadline: `task.started`. */
  | { readonly ask: 'startTask'; readonly task: TaskId }
  /** Hand-off note and the task's input as messages. */
  | { readonly ask: 'openTurn'; readonly task: TaskId }
  /** The boundary: finish, fail, pause, compact or ask the model again. */
  | { readonly ask: 'continueTurn'; readonly task: TaskId }
  /** Account for the next request and ask the model, with what the view holds now. */
  | { readonly ask: 'requestModel'; readonly task: TaskId }
  /** A deadline of a call has passed: abort it, give it up, or end its probe. */
  | { readonly ask: 'expireCall'; readonly task: TaskId; readonly call: CallId }
  /** The answer as a message, and a `call.requested` for each of its calls. */
  | { readonly ask: 'recordAnswer'; readonly task: TaskId }
  /** Check every call that waits, in call order: refuse, hold or start it. */
  | { readonly ask: 'admitCalls'; readonly task: TaskId }
  /** The same for the calls that a quarantine held, over all tasks. */
  | { readonly ask: 'recheckHolds' }
  /** One tool message for each call of the batch, in call order. */
  | { readonly ask: 'answerCalls'; readonly task: TaskId }
  /** The time for an answer is over, if the pause is still open. */
  | { readonly ask: 'expirePause'; readonly task: TaskId; readonly token: PauseToken }
  /** After an unknown change: the task's own pause until somebody acknowledges it, where the host wants that. */
  | { readonly ask: 'awaitAcknowledgement'; readonly task: TaskId }
  /** `task.paused` when nothing is in flight and something is awaited from outside. */
  | { readonly ask: 'restIfIdle'; readonly task: TaskId }
  /** After a pause was settled: resume the task when that lets it run, and act on the decision. */
  | {
      readonly ask: 'followDecision'
      readonly task: TaskId
      readonly call: CallId | null
      readonly decision: Decision
      readonly input: Digest | null
    }
  /** End what is not in flight: unstarted and held calls, their pauses, the await (barrier rule 1, steering rule 7). */
  | { readonly ask: 'settleUnstarted'; readonly task: TaskId; readonly why: 'before_start' | 'withdrawn' }
  /** `model.abandoned` with what the cut request is charged. */
  | { readonly ask: 'abandonRequest'; readonly task: TaskId; readonly reason: AbandonReason }
  /** `call.aborting` for each started call. */
  | { readonly ask: 'abortCalls'; readonly task: TaskId }
  /** `task.cancelling` for each living cascade descendant, breadth first. */
  | { readonly ask: 'cancelDescendants'; readonly task: TaskId }
  /** The terminal fact of a barrier, once nothing is waited for any more. */
  | { readonly ask: 'concludeBarrier'; readonly task: TaskId }
  | {
      readonly ask: 'endTask'
      readonly task: TaskId
      readonly status: Status
      readonly code?: string
      readonly reason?: string
      readonly replacement?: TaskId
    }
  /** Fail the task: at once, or through the barrier when calls or descendants live. */
  | { readonly ask: 'failTask'; readonly task: TaskId; readonly code: string; readonly reason?: string }
  /** `task.cancelling` with its grace, or the terminal at once for a task that never started. */
  | {
      readonly ask: 'cancelTask'
      readonly task: TaskId
      readonly status: 'cancelled' | 'superseded'
      readonly reason: string
      readonly replacement?: TaskId
      readonly steering?: SteeringFate
      readonly cascadedFrom?: TaskId
    }
  /** After `run.resumed`: settle what was in flight when the owner before was lost. */
  | { readonly ask: 'recoverTask'; readonly task: TaskId }
  /** Verify the outcome with the capability's probe, or commit `unknown`. */
  | { readonly ask: 'settleUncertain'; readonly task: TaskId; readonly call: CallId; readonly reason: UnknownReason }
  /** `task.await_settled` with what is known; `done` only when nothing that is waited for lives. */
  | { readonly ask: 'settleAwait'; readonly task: TaskId; readonly how: FactData['task.await_settled']['how'] }
  /** The same for every task whose await may be over with what has just ended. */
  | { readonly ask: 'followAwaits' }
  /** `group.resolved`, once it is sealed and no member lives. */
  | { readonly ask: 'resolveGroup'; readonly group: GroupId }
  /** `task.cancelling` for each member that lives. */
  | { readonly ask: 'cancelMembers'; readonly group: GroupId }
  /** `run.resumed`, if the task still is as its owner left it. */
  | { readonly ask: 'resumeRun'; readonly task: TaskId }
  /** The replacement in the slot, or an unblocked head of the queue, when nothing is active. */
  | { readonly ask: 'startNext' }
  /** `session.closed` or `session.erased` when nothing lives any more. */
  | { readonly ask: 'closeIfIdle' }

export type AgendaItem = { [T in FactType]: Draft<T> }[FactType] | Ask
export interface Agenda {
  readonly agenda: readonly AgendaItem[]
}

/** Effects. The runtime performs them after the step is durable; results come back as commands. */
export type Intent =
  | { readonly type: 'sendRequest'; readonly task: TaskId }
  | { readonly type: 'abortRequest'; readonly task: TaskId }
  | { readonly type: 'performCall'; readonly task: TaskId; readonly call: CallId; readonly attempt: number }
  | { readonly type: 'abortCall'; readonly task: TaskId; readonly call: CallId; readonly reason: 'cancel' | 'deadline' }
  | { readonly type: 'verifyCall'; readonly task: TaskId; readonly call: CallId }
  | { readonly type: 'announcePause'; readonly task: TaskId; readonly token: PauseToken }

export function isAsk(item: AgendaItem): item is Ask {
  return 'ask' in item
}
