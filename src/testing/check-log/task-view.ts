/** What the checker remembers of a living task and its calls; see the session's projection for who changes it. */
import type {
  BarrierStatus,
  CallId,
  CapabilityRef,
  Effect,
  Grant,
  HoldReason,
  Origin,
  PauseReason,
  PauseToken,
  Purpose,
  Status,
  SteeringFate,
  TaskId,
  TaskKind,
} from '../../../machines/vocabulary.ts'

export type TaskState = 'pending' | 'running' | 'paused' | 'cancelling' | 'quiescing'
export type CallState = 'requested' | 'held' | 'started' | 'aborting' | 'verifying' | 'settled'

export interface CallView {
  readonly id: CallId
  readonly name: string
  /** Absent when the name was unknown. */
  readonly effect: Effect | undefined
  readonly capability: string | undefined
  readonly ref: CapabilityRef | undefined
  /** Digest of the arguments: two calls of one name with the same digest are identical. */
  readonly arguments: string
  state: CallState
  hold: HoldReason | null
  token: PauseToken | null
  attempts: number
  /** The last attempt was ended by the tool's own pause, before its effect. */
  pausedAttempt: boolean
  /** An attempt was lost; nobody knows what it did. */
  interrupted: boolean
  /** A person allowed it. */
  approved: boolean
  verified: 'succeeded' | 'failed' | 'unknown' | null
  /** How a denial or a failure ended it, in words that are the same for an identical one. */
  setback: string | null
}

/** What a task is joined to. */
export interface AwaitView {
  readonly tasks: readonly TaskId[]
  readonly group: string | null
  readonly deadline: string | null
}

export interface OpenRequest {
  readonly purpose: Purpose
  readonly reserved: number
}

export interface Account {
  readonly purpose: Purpose
  readonly admitted: boolean
  readonly limit: number | null
  readonly occupancy: number
  readonly reserve: number
}

/** Where the turn requests of a task are: a retry is the same step and the next attempt. */
export interface RequestPosition {
  readonly step: number
  readonly attempt: number
  interrupted: boolean
}

export interface CallTally {
  asked: number
  requested: number
  failed: number
  refused: number
  succeededMutating: number
  unknownMutating: number
  cancelled: number
}

export interface TaskView {
  readonly id: TaskId
  readonly kind: TaskKind
  readonly origin: Origin
  readonly parent: TaskId | null
  readonly group: string | null
  readonly predecessor: TaskId | null
  /** Created as the replacement of a task that was active then. */
  readonly replacesActive: boolean
  /** Nearest first, whatever the links are. */
  readonly ancestors: readonly TaskId[]
  /** Nearest first; the chain ends at the first link that isolates. */
  readonly cascadeAncestors: readonly TaskId[]
  readonly depth: number
  readonly limits: { readonly [name: string]: number }
  startedSeq: number
  state: TaskState
  /** It must not start unless its predecessor completed. */
  requirement: boolean
  predecessorStatus: Status | null
  blocked: boolean
  run: string | null
  attempt: number
  /** Of the owner that began or resumed it. */
  epoch: number | null
  barrier: { readonly status: BarrierStatus; readonly steering: SteeringFate } | null
  request: OpenRequest | null
  /** The account of the step at hand; a request uses it up. */
  accounted: Account | null
  position: RequestPosition | null
  answers: number
  stepsBegun: number
  /** Calls of the newest answer of a turn request. */
  asked: readonly { readonly call: CallId; readonly name: string }[] | null
  /** Tool calls of the conversation that have no result yet, in call order. */
  unanswered: CallId[]
  readonly calls: Map<CallId, CallView>
  readonly tally: CallTally
  /** Calls in the order in which they settled. */
  readonly settled: CallId[]
  /** Every call that the answers asked for, in order; those of planner tools have no view. */
  readonly everAsked: CallId[]
  /** Messages added to it. */
  said: number
  awaiting: AwaitView | null
  readonly grants: Map<string, Grant>
  /** The catalog snapshot: null before the start. */
  refs: ReadonlyMap<string, CapabilityRef> | null
  /** Active skills; `carried` is the step whose request took a step-scoped one along. */
  readonly skills: Map<string, { readonly scope: 'task' | 'step'; carried: number | null }>
  /** Capabilities that somebody confirmed for this task. */
  readonly confirmed: Set<string>
  episode: { readonly id: string; readonly kind: 'exploration' | 'action' } | null
  /** A summary of this round has an answer, or has failed. */
  summarised: boolean
  charged: number
}

export interface PauseView {
  readonly token: PauseToken
  readonly task: TaskId | null
  readonly call: CallId | null
  readonly reason: PauseReason
}

/** What stays of a task that ended: enough to know its children, its group and its result. */
export interface EndedTask {
  readonly status: Status
  readonly kind: TaskKind
  readonly seq: number
  readonly group: string | null
  readonly ancestors: readonly TaskId[]
  readonly cascadeAncestors: readonly TaskId[]
  readonly depth: number
  /** A background task whose parent had ended before it, or that has none. */
  readonly afterParent: boolean
}
