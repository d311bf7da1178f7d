import type {
  BarrierStatus,
  CallCounts,
  CallId,
  CancelledWhen,
  CapabilityRef,
  Decision,
  Digest,
  Effect,
  Grant,
  GroupId,
  HoldReason,
  JsonObject,
  MessageId,
  Origin,
  PauseReason,
  PauseToken,
  Propagation,
  Requirement,
  SessionSettings,
  Status,
  SteeringFate,
  TaskId,
  TaskKind,
  Time,
  UnknownReason,
  Usage,
} from './vocabulary.ts'

/** Fields that name what a new task is to do; also what `task.input_replaced` may change. */
interface TaskInput {
  readonly input: Digest
  readonly bytes: number
  readonly request: Digest
  readonly model?: string
  readonly system?: Digest
  readonly settings?: JsonObject
  readonly grants?: { readonly [id: string]: Grant }
  /** Skills that the operator activates for the whole task, by name. */
  readonly skills?: readonly string[]
  /** seq at the submission: what the task may see of the conversation. */
  readonly watermark: number
}

export interface TerminalData {
  readonly messageId?: MessageId
  readonly code?: string
  readonly reason?: string
  readonly replacement?: TaskId
  readonly usage: Usage
  readonly steps: number
  readonly calls: CallCounts
  readonly pendingSteering: readonly MessageId[]
}

export interface AwaitResult {
  readonly task: TaskId
  readonly status: Status | null
  readonly digest: Digest | null
}

/** An episode of the session that a checkpoint was taken of; `concludedBy` is the answer that ended it. */
export interface RestoredEpisode {
  readonly episode: string
  readonly kind: 'exploration' | 'action'
  readonly basedOn?: readonly string[]
  readonly concludedBy?: MessageId
}

interface Because {
  readonly reason?: string
}

export interface SessionFacts {
  /** `restores`: it begins with what a checkpoint holds, and takes nothing else until `session.restored`. */
  'session.opened': { readonly title?: string; readonly settings: SessionSettings; readonly restores?: Digest }
  'session.restored': {
    readonly from: Digest
    readonly turns: number
    readonly revision: number
    readonly usage: Usage
    readonly quarantined: readonly CallId[]
    /** Percentages of the budget that were warned of. */
    readonly warned?: readonly number[]
    readonly episodes?: readonly RestoredEpisode[]
  }
  'session.owned': { readonly owner: string; readonly epoch: number }
  'session.closing': Because & { readonly then: 'close' | 'erase' }
  'session.closed': Because
  'session.reopened': Because
  'session.erased': Because
  'settings.changed': { readonly before: SessionSettings; readonly after: SessionSettings }
  'command.accepted': {
    readonly command: string
    readonly name: string
    readonly body: Digest
    readonly result: 'applied' | 'queued' | 'joined' | 'too_late'
    readonly target?: string
    readonly replacement?: TaskId
    readonly superseded?: TaskId
  }
}

export interface TaskFacts {
  'task.created': TaskInput & {
    readonly kind: TaskKind
    readonly origin: Origin
    readonly attachments?: readonly Digest[]
    readonly requires: Requirement
    readonly predecessor?: TaskId
    readonly replaces?: TaskId
    readonly parent?: TaskId
    readonly propagate?: Propagation
    readonly group?: GroupId
    readonly idempotencyKey?: string
    readonly limits?: { readonly [name: string]: number }
    /** Where in a trace the operator's command came from. */
    readonly traceparent?: string
  }
  'task.blocked': { readonly predecessor: TaskId; readonly status: Status }
  'task.unblocked': Record<never, never>
  'task.input_replaced': TaskInput
  'task.started': {
    readonly generation: number
    readonly control: number
    readonly capabilities: readonly CapabilityRef[]
    readonly grants: { readonly [id: string]: Grant }
    readonly model: string
    readonly system: Digest | null
    readonly settings: JsonObject
    /** The catalog as the task sees it: descriptions and contracts, as shared content. */
    readonly catalog?: Digest
    readonly handoff?: Digest
    readonly deadline?: Time
  }
  'run.resumed': { readonly attempt: number; readonly reason: 'crash' | 'takeover' }
  'task.awaiting': {
    readonly forCall?: CallId
    readonly tasks?: readonly TaskId[]
    readonly group?: GroupId
    readonly deadline?: Time
  }
  'task.await_settled': {
    readonly how: 'done' | 'deadline' | 'interrupted' | 'cancelled'
    readonly results: readonly AwaitResult[]
  }
  'task.progress': { readonly fraction: number; readonly phase?: string; readonly note?: string }
  'task.cancelling': {
    readonly status: BarrierStatus
    readonly reason: string
    readonly code?: string
    readonly graceUntil: Time
    readonly steering: SteeringFate
    readonly replacement?: TaskId
    readonly cascadedFrom?: TaskId
  }
  'task.quiescing': { readonly calls: readonly CallId[] }
  'task.paused': { readonly reasons: readonly PauseReason[] }
  'task.resumed': { readonly deadline?: Time }
  'task.completed': TerminalData
  'task.failed': TerminalData
  'task.cancelled': TerminalData
  'task.superseded': TerminalData
  'pause.requested': {
    readonly token: PauseToken
    readonly reason: PauseReason
    readonly deadline?: Time
    readonly subject?: string
  }
  'pause.settled': { readonly token: PauseToken; readonly decision: Decision; readonly input?: Digest }
}

export interface CallFacts {
  'call.requested': {
    readonly name: string
    readonly ref?: CapabilityRef
    /** Absent: the name is unknown, and the call is then refused. */
    readonly effect?: Effect
    readonly arguments: Digest
    readonly bytes: number
    /** The planner step whose answer asked for it. */
    readonly batch: number
    readonly index: number
    readonly idempotencyKey?: string
  }
  'call.refused': { readonly code: string }
  'call.held': { readonly reason: HoldReason; readonly token?: PauseToken }
  'call.started': { readonly attempt: number; readonly control: number; readonly deadline?: Time }
  'call.aborting': { readonly reason: 'cancel' | 'deadline'; readonly graceUntil: Time }
  'call.interrupted': { readonly attempt: number }
  'call.finished': {
    readonly outcome: 'succeeded' | 'failed'
    readonly digest: Digest
    readonly bytes: number
    readonly code?: string
    readonly durationMs: number
    readonly tree?: Digest
  }
  'call.cancelled': { readonly when: CancelledWhen }
  'call.unknown': { readonly reason: UnknownReason }
  'call.verifying': { readonly deadline: Time }
  'call.verified': { readonly outcome: 'succeeded' | 'failed' | 'unknown'; readonly digest?: Digest }
  'call.late': { readonly outcome: 'succeeded' | 'failed'; readonly digest: Digest }
  'mutation.quarantined': { readonly calls: readonly CallId[] }
  'mutation.acknowledged': { readonly calls: readonly CallId[] }
}
