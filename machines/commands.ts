import type { FactData } from './facts.ts'
import type {
  CallId,
  Decision,
  Digest,
  Grant,
  GroupId,
  JsonObject,
  MessageId,
  PauseToken,
  Propagation,
  Requirement,
  SteeringFate,
  TaskId,
  Time,
} from './vocabulary.ts'

/** What a new task is to do, already as digests: raw content never reaches a chart. */
export interface TaskRequest {
  readonly task: TaskId
  readonly input: Digest
  readonly bytes: number
  readonly request: Digest
  readonly model?: string
  readonly system?: Digest
  readonly settings?: JsonObject
  readonly grants?: { readonly [id: string]: Grant }
  readonly skills?: readonly string[]
  readonly traceparent?: string
  /** Own bounds of the task, within those of the session. */
  readonly limits?: { readonly [name: string]: number }
}

/** What operators ask for. Imperative; each is accepted with a receipt or refused with a code. */
export type OperatorCommand =
  | { readonly name: 'start'; readonly request: TaskRequest }
  | { readonly name: 'followUp'; readonly request: TaskRequest; readonly requires: Requirement }
  | { readonly name: 'supersede'; readonly request: TaskRequest; readonly task?: TaskId }
  | {
      readonly name: 'spawn'
      readonly request: TaskRequest
      readonly parent?: TaskId
      readonly propagate: Propagation
      readonly group?: GroupId
      readonly idempotencyKey?: string
    }
  | { readonly name: 'createGroup'; readonly group: GroupId; readonly failFast: boolean }
  | { readonly name: 'sealGroup' | 'cancelGroup'; readonly group: GroupId }
  | {
      readonly name: 'steer'
      readonly task?: TaskId
      readonly message: MessageId
      readonly digest: Digest
      readonly bytes: number
      readonly mode: 'boundary' | 'interrupt'
    }
  | { readonly name: 'cancel'; readonly task?: TaskId; readonly reason: string; readonly steering: SteeringFate }
  | { readonly name: 'unblock'; readonly task: TaskId }
  | { readonly name: 'replace'; readonly task: TaskId; readonly request: Omit<TaskRequest, 'task' | 'traceparent'> }
  | { readonly name: 'reduceGrant'; readonly task: TaskId; readonly id: string; readonly grant: Grant }
  | { readonly name: 'acknowledge'; readonly calls: readonly CallId[] | 'all' }
  | { readonly name: 'close'; readonly cancel: boolean; readonly reason?: string }
  | { readonly name: 'reopen' }
  | { readonly name: 'erase'; readonly cancel: boolean; readonly reason?: string }
  /** A part of a checkpoint; `rest` comes with the last one. */
  | {
      readonly name: 'restore'
      readonly from: Digest
      readonly opened: FactData['session.opened']
      readonly messages: readonly FactData['message.added'][]
      readonly rest: {
        readonly restored: FactData['session.restored']
        readonly notes: readonly FactData['memory.put'][]
      } | null
    }
  | { readonly name: 'memoryPut'; readonly key: Digest; readonly digest: Digest; readonly bytes: number }
  | { readonly name: 'memoryRemove'; readonly key: Digest }
  | { readonly name: 'pause'; readonly task?: TaskId; readonly token: PauseToken }
  | {
      readonly name: 'resume'
      /** Only a confirmation may be settled by it. */
      readonly confirms?: true
      readonly token: PauseToken
      readonly decision: Exclude<Decision, 'withdrawn'>
      readonly input?: Digest
    }

/** How a call's attempt came back to the runtime. `thrown` before the abort is a failure; after it, nobody can tell. */
export type CallReturn =
  | { readonly how: 'returned'; readonly digest: Digest; readonly bytes: number; readonly tree?: Digest }
  | {
      readonly how: 'threw'
      readonly digest: Digest
      readonly bytes: number
      readonly code: string
      readonly beforeAbort: boolean
    }
  /** It threw what says that nobody can know whether the effect happened. */
  | { readonly how: 'lost'; readonly digest: Digest; readonly bytes: number; readonly code: string }
  /** It rejected with the abort signal's reason after it had stopped, or `cancel` said so. */
  | { readonly how: 'acknowledged' }
  /** `ctx.pause`: the attempt ended before its effect, and something is awaited. */
  | {
      readonly how: 'paused'
      readonly token: PauseToken
      readonly reason: 'approval' | 'authorization' | 'input' | 'external'
      readonly deadline?: Time
      readonly subject?: string
    }

/** The result of a call's attempt: a command to the same mailbox as the operator's. */
export interface CallResult {
  readonly call: CallId
  readonly attempt: number
  readonly durationMs: number
  readonly result: CallReturn
  /** Attempts that a lost read or idempotent call may have in all. */
  readonly maxAttempts: number
}
