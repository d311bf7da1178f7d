/**
 * The words that facts, commands and intents are made of. They are stored for ever: add, never rename.
 * Times are ISO-8601 UTC strings with milliseconds, which also sort as text.
 */
export type TaskId = string
export type CallId = string
export type RunId = string
export type MessageId = string
export type GroupId = string
export type PauseToken = string
/** `hmac-sha256:<hex>` of raw content under the session's key. */
export type Digest = string
export type Time = string

export type TaskKind = 'foreground' | 'background'
export type Origin = 'start' | 'follow_up' | 'supersede' | 'spawn'
export type Requirement = 'none' | 'success'
export type Status = 'completed' | 'failed' | 'cancelled' | 'superseded'
export type BarrierStatus = Exclude<Status, 'completed'>
export type Effect = 'read' | 'idempotent' | 'mutate'
export type Propagation = 'cascade' | 'isolate'
export type SteeringFate = 'inherit' | 'expire'
export type PauseReason = 'approval' | 'authorization' | 'input' | 'operator' | 'external' | 'acknowledgement'
export type HoldReason = 'approval' | 'authorization' | 'input' | 'external' | 'quarantine'
export type Decision = 'approve' | 'reject' | 'resume' | 'timeout' | 'withdrawn'
export type Purpose = 'turn' | 'summary'
export type UnknownReason = 'grace' | 'crash' | 'unacknowledged' | 'deadline' | 'transport'
export type CancelledWhen = 'before_start' | 'acknowledged' | 'interrupted' | 'withdrawn'
export type AbandonReason = 'cancelled' | 'interrupted' | 'crash' | 'deadline'
export type FinishReason = 'stop' | 'calls' | 'length' | 'filter' | 'other'
export type Level = 'none' | 'discover' | 'inspect' | 'load' | 'execute' | 'activate'
export type Confirm = 'none' | 'once' | 'each'
export type MemoryScope = 'session' | 'user' | 'tenant'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

export interface Usage {
  readonly input: number
  readonly output: number
  readonly total: number
  readonly cached?: number
  readonly reasoning?: number
  readonly estimated?: true
}

/** What a task's snapshot of the catalog holds of one capability. */
export interface CapabilityRef {
  readonly id: string
  readonly generation: number
  /** `sha256:<hex>` over the canonical contract. */
  readonly contract: string
  readonly provider: string
  readonly binding: number
}

export interface Grant {
  readonly level: Level
  readonly confirm: Confirm
}

export interface CallCounts {
  readonly total: number
  readonly failed: number
  readonly succeededMutating: number
  readonly unknownMutating: number
  readonly cancelled: number
}

export interface Actor {
  readonly kind: 'operator' | 'runtime' | 'planner' | 'capability'
  readonly id: string
}

/** Bytes of model context and the policy that keeps a view inside them. */
export interface ContextPolicy {
  readonly windowTokens: number
  readonly thresholdTokens: number
  readonly tailMessages: number
  readonly reserveTokens: number
  /** Absent: what no summary made small is left out. `false`: the task fails then. */
  readonly evict?: boolean
}

/** What `session.opened` fixes for the life of the session, until `settings.changed`. */
export interface SessionSettings {
  readonly model: string
  readonly system: Digest | null
  readonly limits: { readonly [name: string]: number }
  readonly budget: { readonly tokens: number } | null
  readonly context: ContextPolicy
}

const plannerNames: ReadonlySet<string> = new Set(['tools_load', 'skills_activate', 'observation_read', 'operator_ask'])
const plannerFamilies = ['task_', 'capabilities_', 'memory_', 'episode_']

/**
 * Tools that the runtime folds by itself: no `call.*` facts, never held. The names are reserved for ever, whether or not a
 * version offers them, so that an old log folds in the same way.
 */
export function isPlannerTool(name: string): boolean {
  return plannerNames.has(name) || plannerFamilies.some((family) => name.startsWith(family))
}
