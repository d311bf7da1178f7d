import type { CapabilityFacts, ContextFacts, ConversationFacts, ModelFacts, SharedFacts } from './facts-of-context.ts'
import type { CallFacts, SessionFacts, TaskFacts } from './facts-of-work.ts'
import type { CallId, TaskId, Time } from './vocabulary.ts'

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
  /** Commit of the session that wrote it: where its content is. */
  readonly step: number
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
