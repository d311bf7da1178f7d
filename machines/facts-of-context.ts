import type { AwaitResult } from './facts-of-work.ts'
import type {
  AbandonReason,
  CallId,
  CapabilityRef,
  Digest,
  FinishReason,
  Grant,
  GroupId,
  JsonObject,
  MemoryScope,
  MessageId,
  Purpose,
  TaskId,
  Time,
  Usage,
} from './vocabulary.ts'

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

interface GroupData {
  readonly group: GroupId
  readonly members?: readonly TaskId[]
  readonly failFast?: boolean
  readonly results?: readonly AwaitResult[]
}

interface MemoryData {
  readonly key: Digest
  readonly scope: MemoryScope
  readonly digest?: Digest
  readonly decision?: 'allowed' | 'denied'
  /** Of the value. */
  readonly bytes?: number
  /** In the control stream: who wrote it, from which session. A user's note is that user's, a tenant's the tenant's. */
  readonly of?: { readonly tenant: string; readonly user?: string; readonly session?: string }
}

/** How a message stood in the view that a checkpoint holds: what the facts that it came from would have said. */
export interface RestoredMessage {
  readonly rank: number
  readonly episode?: string
  readonly observed?: true
  /** It is the summary of this number, and stands for what it tells of. */
  readonly summary?: number
  /** It is the note that stands for user messages which were left out; their beginnings are content of the same step. */
  readonly note?: { readonly count: number; readonly kept: readonly Digest[] }
}

export interface ConversationFacts {
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
    readonly restored?: RestoredMessage
  }
  'result.offered': { readonly from: TaskId; readonly message: MessageId }
}

export interface ContextFacts {
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

export interface ModelFacts {
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
    readonly reason?: string
  }
  'model.abandoned': { readonly reason: AbandonReason; readonly charged: Usage }
}

export interface CapabilityFacts {
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

export interface SharedFacts {
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
