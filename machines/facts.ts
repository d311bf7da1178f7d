import type {
  AbandonReason,
  BarrierStatus,
  CallCounts,
  CallId,
  CancelledWhen,
  CapabilityRef,
  Decision,
  Digest,
  Effect,
  FinishReason,
  Grant,
  GroupId,
  HoldReason,
  JsonObject,
  MessageId,
  Origin,
  PauseReason,
  PauseToken,
  Propagation,
  Purpose,
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

interface BudgetData {
  readonly what: string
  readonly used: number
  readonly limit: number
}

interface CapabilityContent {
  readonly ref: CapabilityRef
  readonly scope: 'task' | 'step'
  readonly bytes: number
  readonly content: Digest
}

interface CapabilityProblem {
  readonly id: string
  readonly code: string
  readonly need?: number
  readonly margin?: number
  readonly ceiling?: number
}

interface Because {
  readonly reason?: string
}

interface SessionFacts {
  'session.opened': { readonly title?: string; readonly settings: SessionSettings }
  'session.restored': {
    readonly from: Digest
    readonly turns: number
    readonly revision: number
    readonly usage: Usage
    readonly quarantined: readonly CallId[]
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

interface TaskFacts {
  'task.created': TaskInput & {
    readonly kind: TaskKind
    readonly origin: Origin
    readonly attachments?: readonly Digest[]
    readonly skills?: readonly string[]
    readonly requires: Requirement
    readonly predecessor?: TaskId
    readonly replaces?: TaskId
    readonly parent?: TaskId
    readonly propagate?: Propagation
    readonly group?: GroupId
    readonly idempotencyKey?: string
    readonly limits?: { readonly [name: string]: number }
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

interface ConversationFacts {
  'steering.queued': {
    readonly message: MessageId
    readonly digest: Digest
    readonly bytes: number
    readonly mode: 'boundary' | 'interrupt'
  }
  'steering.applied': { readonly messages: readonly MessageId[]; readonly step: number }
  'steering.inherited': { readonly messages: readonly MessageId[]; readonly from: TaskId }
  'steering.expired': { readonly messages: readonly MessageId[]; readonly reason: string }
  'message.added': {
    readonly message: MessageId
    readonly role: 'user' | 'assistant' | 'tool' | 'system'
    readonly digest: Digest
    readonly bytes: number
    readonly toolCalls?: readonly { readonly call: CallId; readonly name: string }[]
    readonly forCall?: CallId
    readonly synthetic?: true
  }
  'result.offered': { readonly from: TaskId; readonly message: MessageId }
}

interface ContextFacts {
  'context.accounted': {
    readonly algorithm: string
    readonly occupancy: number
    readonly reserve: number
    readonly window: number
    readonly admitted: boolean
    readonly purpose: Purpose
    readonly used: number
    readonly reserved: number
    readonly limit: number | null
  }
  'context.checkpoint': {
    readonly version: number
    readonly summary: Digest
    readonly tailStart: number
    readonly throughRevision: number
  }
  'context.compacted': {
    readonly algorithm: string
    readonly tailStart: number
    readonly dropped: number
    readonly observed: number
    readonly messagesBefore: number
    readonly messagesAfter: number
    readonly bytesBefore: number
    readonly bytesAfter: number
  }
  'episode.started': {
    readonly episode: string
    readonly kind: 'exploration' | 'action'
    readonly basedOn?: readonly string[]
  }
  'episode.ended': { readonly episode: string; readonly kind: 'exploration' | 'action'; readonly conclusion?: Digest }
  'budget.warning': BudgetData & { readonly percent?: number }
  'budget.exceeded': BudgetData & { readonly percent?: number }
}

interface ModelFacts {
  'model.requested': {
    readonly request: Digest
    readonly model: string
    readonly purpose: Purpose
    /** nth answer within the task, from 0; a retry is the same step and the next attempt (from 1). */
    readonly step: number
    readonly attempt: number
    readonly messages: number
    readonly tools: number
    readonly maxOutput: number
    readonly reserved: number
    readonly deadline: Time
  }
  'model.completed': {
    readonly usage: Usage
    readonly finish: FinishReason
    readonly digest: Digest
    readonly calls: readonly { readonly call: CallId; readonly name: string; readonly arguments: Digest }[]
    readonly durationMs: number
  }
  'model.failed': {
    readonly code: string
    readonly retryable: boolean
    readonly attempt: number
    readonly retryAt?: Time
    readonly usage?: Usage
  }
  'model.abandoned': { readonly reason: AbandonReason; readonly charged: Usage }
}

interface CallFacts {
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

interface CapabilityFacts {
  'capability.loaded': CapabilityContent
  'capability.activated': CapabilityContent
  'capability.released': CapabilityContent
  'capability.refused': CapabilityProblem
  'capability.skipped': CapabilityProblem
  'grant.reduced': { readonly id: string; readonly before: Grant; readonly after: Grant }
  'capability.revoked': { readonly id: string }
  'provider.disabled': { readonly id: string }
  'provider.enabled': { readonly id: string }
}

interface GroupData {
  readonly group: GroupId
  readonly members?: readonly TaskId[]
  readonly failFast?: boolean
  readonly results?: readonly AwaitResult[]
}

interface MemoryData {
  readonly key: Digest
  readonly scope: 'session' | 'user' | 'tenant'
  readonly digest?: Digest
  readonly decision?: 'allowed' | 'denied'
}

interface SharedFacts {
  'group.created': GroupData
  'group.sealed': GroupData
  'group.resolved': GroupData
  'group.cancelled': GroupData
  'memory.put': MemoryData
  'memory.removed': MemoryData
  'memory.promoted': MemoryData
  'audit.elevated': { readonly actor: string; readonly surface: string; readonly filter: JsonObject }
  'audit.redaction_failed': { readonly type: string; readonly field: string }
}

/** Every fact type with its data; the zod schemas of the codec are checked against this. */
export interface FactData
  extends SessionFacts,
    TaskFacts,
    ConversationFacts,
    ContextFacts,
    ModelFacts,
    CallFacts,
    CapabilityFacts,
    SharedFacts {}

export type FactType = keyof FactData

/** What the charts and reducers read of a fact; the envelope in the log has more. */
export interface FactOf<T extends FactType> {
  readonly type: T
  readonly data: FactData[T]
  readonly id: string
  readonly seq: number
  readonly at: Time
  readonly task: TaskId | null
  readonly run: string | null
  readonly call: CallId | null
}

export type Fact = { [T in FactType]: FactOf<T> }[FactType]

/** A fact before the runtime gives it id, seq and time. */
export interface Draft<T extends FactType = FactType> {
  readonly type: T
  readonly task?: TaskId | null
  readonly call?: CallId | null
  readonly data: FactData[T]
}

export const terminalTypes = ['task.completed', 'task.failed', 'task.cancelled', 'task.superseded'] as const
export type TerminalType = (typeof terminalTypes)[number]
