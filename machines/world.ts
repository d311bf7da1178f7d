import type { SnapshotFrom } from 'xstate'
import type { callMachine } from './call.machine.ts'
import type { ContentAt } from './content-at.ts'
import type { EpisodeRecord } from './episode.ts'
import type { FactData, FactOf } from './facts.ts'
import type { groupMachine } from './group.machine.ts'
import type { sessionMachine } from './session.machine.ts'
import type { taskMachine } from './task.machine.ts'
import { newView, type View } from './view.ts'
import type {
  CallCounts,
  CallId,
  CapabilityRef,
  Decision,
  Digest,
  Effect,
  Grant,
  GroupId,
  MessageId,
  PauseToken,
  Status,
  TaskId,
  Time,
  Usage,
} from './vocabulary.ts'
import type { Wait } from './wait.ts'

export type SessionSnapshot = SnapshotFrom<typeof sessionMachine>
export type TaskSnapshot = SnapshotFrom<typeof taskMachine>
export type GroupSnapshot = SnapshotFrom<typeof groupMachine>
export type CallSnapshot = SnapshotFrom<typeof callMachine>

export type Sized = ContentAt & { readonly bytes: number }

/** What stays known of a task, also after its end. */
export interface TaskRecord {
  readonly id: TaskId
  readonly created: FactOf<'task.created'>['data']
  readonly createdSeq: number
  /** Newest input: the one of the creation, or of the replacement. */
  readonly input: Sized
  /** nth foreground task of the session, from 0; -1 for a background task or before the start. */
  readonly turn: number
  readonly run: string | null
  readonly started: FactData['task.started'] | null
  readonly grants: { readonly [id: string]: Grant }
  readonly startedAt: Time | null
  /** Newest message of the planner, and names of the tools that it has called. */
  readonly lastAnswer: MessageId | null
  readonly used: readonly string[]
  /** Content of the newest message of a background task's planner. */
  readonly said: Sized | null
  /** What a tool of a background task told last. */
  readonly progress: FactData['task.progress'] | null
  /** Capabilities that it loaded, by id, in their order. */
  readonly loaded: readonly string[]
  readonly active: readonly ActiveSkill[]
  /** The episode that its planner has open. */
  readonly episode: string | null
  /** Bytes of the results that its calls were given. */
  readonly toolBytes: number
  readonly ended: TaskEnd | null
}

/** A skill whose text the task's requests carry: until the task ends, or for one answer. */
export interface ActiveSkill extends ContentAt {
  readonly id: string
  readonly scope: 'task' | 'step'
  readonly bytes: number
}

/** What a successor is told of a predecessor, and where the whole outcome stands in the log. */
export interface TaskEnd {
  readonly status: Status
  readonly seq: number
  readonly at: Time
  readonly calls: CallCounts
  readonly messageId: MessageId | null
  /** Names of the tools that it called. */
  readonly used: readonly string[]
  /** The final text of a background task, for those who wait for it. */
  readonly result: Sized | null
}

export interface CallRecord {
  readonly id: CallId
  readonly task: TaskId
  readonly name: string
  readonly effect: Effect | null
  readonly ref: CapabilityRef | null
  readonly arguments: ContentAt
  readonly idempotencyKey: string | null
  readonly startedAt: Time | null
  /** An attempt of it is under way. */
  readonly running: boolean
  /** The pause that ended its newest attempt: the answer to it is what the next attempt is told. */
  readonly asks: PauseToken | null
  /** How that pause was settled. */
  readonly resumed: { readonly token: PauseToken; readonly decision: Decision; readonly input: ContentAt | null } | null
  readonly refusal: string | null
  readonly cancelled: FactData['call.cancelled']['when'] | null
  readonly unknown: FactData['call.unknown']['reason'] | null
  readonly finished: (ContentAt & { readonly outcome: 'succeeded' | 'failed'; readonly code: string | null }) | null
}

export interface SteeringRecord extends ContentAt {
  readonly message: MessageId
  readonly bytes: number
}

/** Where a note is; its key is content of the same step. */
export interface NoteRecord extends ContentAt {
  readonly bytes: number
}

export interface ReceiptRecord {
  readonly name: string
  readonly body: Digest
  readonly result: FactData['command.accepted']['result']
  readonly target: string | null
  readonly replacement: TaskId | null
  readonly superseded: TaskId | null
  readonly seq: number
}

/** Everything that folding a session's facts gives. Maps change in place; what they hold never does. */
export interface World {
  seq: number
  /** The commit that is being folded, and the seq of its first fact. */
  commit: { readonly step: number; readonly firstSeq: number }
  session: SessionSnapshot | null
  /** Tasks that have not ended. */
  readonly tasks: Map<TaskId, TaskSnapshot>
  /** Calls whose result is not yet in the conversation, and those that ended `unknown`. */
  readonly calls: Map<CallId, CallSnapshot>
  readonly groups: Map<GroupId, GroupSnapshot>
  readonly taskRecords: Map<TaskId, TaskRecord>
  readonly callRecords: Map<CallId, CallRecord>
  /** What requests show: one view that all turns share which waited for no other, and one for each task with its own selection. */
  readonly sharedView: View
  readonly ownViews: Map<TaskId, View>
  /** Messages added so far, whether or not a view still shows them. */
  messageCount: number
  /** Calls that an assistant message asked for and no tool message answered, in call order, by task. */
  readonly unanswered: Map<TaskId, readonly CallId[]>
  /** Planner tools that have begun and whose tool message is still to come, by task. */
  readonly waits: Map<TaskId, Wait>
  readonly episodes: Map<string, EpisodeRecord>
  /** Notes of the session, by the digest of their key. */
  readonly memory: Map<Digest, NoteRecord>
  readonly steering: Map<MessageId, SteeringRecord>
  readonly receipts: Map<string, ReceiptRecord>
  /** The task of each idempotency key, with the digest of what was asked for. */
  readonly keys: Map<string, { readonly task: TaskId; readonly request: Digest }>
  /** Background tasks that ended after their parent: the next turn is told of them. */
  readonly unoffered: Set<TaskId>
  readonly settledPauses: Set<PauseToken>
  /** Model usage over the life of the session, and what requests in flight have reserved. */
  used: number
  usage: Usage
  readonly reserved: Map<TaskId, { readonly reserved: number; readonly maxOutput: number }>
  /** seq of the newest end of a foreground task. */
  lastEnd: number
  /** The tree of the workspace as it was recorded last; null: it is as it began. */
  tree: Digest | null
  readonly warned: Set<number>
}

export function emptyWorld(): World {
  return {
    seq: 0,
    commit: { step: 0, firstSeq: 0 },
    session: null,
    tasks: new Map(),
    calls: new Map(),
    groups: new Map(),
    taskRecords: new Map(),
    callRecords: new Map(),
    sharedView: newView(),
    ownViews: new Map(),
    messageCount: 0,
    unanswered: new Map(),
    waits: new Map(),
    episodes: new Map(),
    memory: new Map(),
    steering: new Map(),
    receipts: new Map(),
    keys: new Map(),
    unoffered: new Set(),
    settledPauses: new Set(),
    used: 0,
    usage: { input: 0, output: 0, total: 0 },
    reserved: new Map(),
    lastEnd: 0,
    tree: null,
    warned: new Set(),
  }
}
