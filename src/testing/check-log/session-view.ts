/**
 * What the checker remembers of one session. It owns the mutable projection that the rules read.
 *
 * 1. Folds change it only after every rule has judged the fact, so rules always see the state before.
 * 2. A task lives in `tasks` from its creation to its terminal; its calls, grants and counters go with it.
 * 3. `step` is emptied at each commit; nothing in it outlives the step.
 * 4. What grows with history is small and named here: `ended` (an id and a status a task), `offered` (an id a result),
 *    `keys` (a string a keyed spawn), `lateable` (an id a call that ended without its own result).
 *    Everything else is bounded by what lives.
 */
import type {
  BarrierStatus,
  CallId,
  Effect,
  Grant,
  HoldReason,
  MessageId,
  Origin,
  PauseReason,
  PauseToken,
  Purpose,
  Status,
  SteeringFate,
  TaskId,
  TaskKind,
} from '../../../machines/vocabulary.ts'
import type { Scope } from '../../facts/scope.ts'

export type TaskState = 'pending' | 'running' | 'paused' | 'cancelling' | 'quiescing'
export type CallState = 'requested' | 'held' | 'started' | 'aborting' | 'verifying' | 'settled'

export interface CallView {
  readonly id: CallId
  readonly name: string
  /** Absent when the name was unknown. */
  readonly effect: Effect | undefined
  readonly capability: string | undefined
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
}

export interface OpenRequest {
  readonly purpose: Purpose
  readonly reserved: number
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
  /** Nearest first; the chain ends at the first link that isolates. */
  readonly cascadeAncestors: readonly TaskId[]
  readonly depth: number
  state: TaskState
  /** It must not start unless its predecessor completed. */
  requirement: boolean
  predecessorStatus: Status | null
  blocked: boolean
  run: string | null
  attempt: number
  barrier: { readonly status: BarrierStatus; readonly steering: SteeringFate } | null
  request: OpenRequest | null
  /** The account of the step at hand; a request uses it up. */
  accounted: { readonly purpose: Purpose; readonly admitted: boolean; readonly limit: number | null } | null
  position: RequestPosition | null
  answers: number
  stepsBegun: number
  /** Calls of the newest answer of a turn request. */
  asked: readonly { readonly call: CallId; readonly name: string }[] | null
  /** Tool calls of the conversation that have no result yet, in call order. */
  unanswered: CallId[]
  readonly calls: Map<CallId, CallView>
  readonly tally: CallTally
  awaiting: boolean
  readonly grants: Map<string, Grant>
  charged: number
}

export interface PauseView {
  readonly token: PauseToken
  readonly task: TaskId | null
  readonly call: CallId | null
  readonly reason: PauseReason
}

export interface SteeringView {
  readonly message: MessageId
  readonly mode: 'boundary' | 'interrupt'
  /** The task that has it, or had it last. */
  owner: TaskId
  /** Its task ended; it stays with the session. */
  orphaned: boolean
}

export interface EndedInStep {
  readonly seq: number
  readonly kind: TaskKind
  /** Its pending steering has no heir and must be expired in this step. */
  readonly expires: boolean
}

export interface StepView {
  readonly number: number
  readonly firstSeq: number
  count: number
  readonly ended: Map<TaskId, EndedInStep>
  readonly created: Map<TaskId, number>
  readonly barriers: Map<TaskId, number>
  readonly unknown: Map<CallId, { readonly seq: number; readonly effect: Effect | undefined; quarantined: boolean }>
  readonly applied: { readonly task: TaskId; readonly seq: number; readonly unsaid: MessageId[]; requested: boolean }[]
  readonly expired: { readonly message: MessageId; readonly owner: TaskId; readonly seq: number }[]
  readonly interrupts: Map<TaskId, number>
  readonly denied: { readonly pause: PauseView; readonly seq: number }[]
  readonly replaced: Map<TaskId, number>
  closing: number | null
}

export interface GroupView {
  sealed: boolean
  readonly living: Set<TaskId>
}

export interface SessionView {
  readonly scope: Scope
  readonly control: boolean
  lastSeq: number
  lastCursor: number
  lastId: string
  owner: { readonly id: string; readonly epoch: number } | null
  lifecycle: 'new' | 'open' | 'closing' | 'closed' | 'erased'
  closingThen: 'close' | 'erase'
  active: TaskId | null
  lastForeground: TaskId | null
  queue: TaskId[]
  slot: TaskId[]
  readonly tasks: Map<TaskId, TaskView>
  readonly ended: Map<TaskId, Status>
  readonly offered: Set<TaskId>
  readonly keys: Map<string, TaskId>
  readonly lateable: Set<CallId>
  readonly quarantine: Set<CallId>
  readonly pauses: Map<PauseToken, PauseView>
  readonly groups: Map<string, GroupView>
  steering: SteeringView[]
  used: number
  controlVersion: number
  step: StepView
}

export function emptyStep(number: number, firstSeq: number): StepView {
  return {
    number,
    firstSeq,
    count: 0,
    ended: new Map(),
    created: new Map(),
    barriers: new Map(),
    unknown: new Map(),
    applied: [],
    expired: [],
    interrupts: new Map(),
    denied: [],
    replaced: new Map(),
    closing: null,
  }
}

export function emptySession(scope: Scope, control: boolean): SessionView {
  return {
    scope,
    control,
    lastSeq: 0,
    lastCursor: -1,
    lastId: '',
    owner: null,
    lifecycle: 'new',
    closingThen: 'close',
    active: null,
    lastForeground: null,
    queue: [],
    slot: [],
    tasks: new Map(),
    ended: new Map(),
    offered: new Set(),
    keys: new Map(),
    lateable: new Set(),
    quarantine: new Set(),
    pauses: new Map(),
    groups: new Map(),
    steering: [],
    used: 0,
    controlVersion: 0,
    step: emptyStep(0, 0),
  }
}
