import type { Fact, FactOf } from './facts.ts'
import type {
  CallId,
  Digest,
  MessageId,
  Propagation,
  Requirement,
  SessionSettings,
  Status,
  TaskId,
  TaskKind,
} from './vocabulary.ts'

export interface QueueEntry {
  readonly task: TaskId
  readonly requires: Requirement
  readonly predecessor: TaskId | null
  readonly blocked: boolean
}

/** What the session knows of a task that has not ended. */
export interface LivingTask {
  readonly kind: TaskKind
  readonly parent: TaskId | null
  readonly propagate: Propagation | null
  readonly phase: 'pending' | 'started' | 'cancelling'
  /** Links up to the turn or the command that it comes from; 0 for a turn. */
  readonly depth: number
}

export interface SessionContext {
  readonly settings: SessionSettings
  readonly title: string | null
  readonly epoch: number
  readonly tasks: { readonly [task: TaskId]: LivingTask }
  readonly queue: readonly QueueEntry[]
  /** The replacement that starts after the barrier, before all follow-ups. */
  readonly slot: TaskId | null
  readonly active: TaskId | null
  /** Foreground task started last, and how it ended. */
  readonly last: { readonly task: TaskId; readonly status: Status | null } | null
  /** Foreground tasks started so far. */
  readonly turns: number
  /** Task that ended with the newest terminal fact; says whether its pending steering dies with it. */
  readonly ended: { readonly task: TaskId; readonly status: Status; readonly expire: boolean } | null
  /** Steering of ended turns that waits for a foreground task to inherit it. */
  readonly orphans: readonly { readonly from: TaskId; readonly messages: readonly MessageId[] }[]
  /** The barrier under way expires pending steering. */
  readonly expire: boolean
  readonly quarantine: readonly CallId[]
  /** The checkpoint that the session is being restored from: until that is done nothing else is accepted. */
  readonly restoring: Digest | null
  /** The checkpoint that it was restored from. */
  readonly restoredFrom: Digest | null
  /** What a close or an erase that is under way ends in. */
  readonly closing: 'close' | 'erase' | null
  readonly seq: number
}

/** Follow-ups that may wait in one session, unless its settings say less. */
export const queuedPerSession = 256

export function initialSession(fact: FactOf<'session.opened'>): SessionContext {
  return {
    settings: fact.data.settings,
    title: fact.data.title ?? null,
    epoch: 0,
    tasks: {},
    queue: [],
    slot: null,
    active: null,
    last: null,
    turns: 0,
    ended: null,
    orphans: [],
    expire: false,
    quarantine: [],
    restoring: fact.data.restores ?? null,
    restoredFrom: null,
    closing: null,
    seq: fact.seq,
  }
}

export function isForeground(context: SessionContext, task: TaskId | null): boolean {
  return task !== null && context.tasks[task]?.kind === 'foreground'
}

export function startedTasks(context: SessionContext): readonly TaskId[] {
  return Object.keys(context.tasks).filter((task) => context.tasks[task]?.phase !== 'pending')
}

export function pendingTasks(context: SessionContext): readonly TaskId[] {
  return Object.keys(context.tasks).filter((task) => context.tasks[task]?.phase === 'pending')
}

/** The task directly ahead of one submitted now: queue tail, else the slot, else the active one, else the turn started last. */
export function predecessorNow(context: SessionContext): TaskId | null {
  return context.queue.at(-1)?.task ?? context.slot ?? context.active ?? context.last?.task ?? null
}

/** How the predecessor of a follow-up ended, if it has. */
export function endOf(context: SessionContext, task: TaskId | null): Status | null {
  return task !== null && context.last?.task === task ? context.last.status : null
}

export function nextToStart(context: SessionContext): TaskId | null {
  if (context.active !== null || context.closing !== null) return null
  if (context.slot !== null) return context.slot
  const head = context.queue[0]
  return head === undefined || head.blocked ? null : head.task
}

/** Bound of the session's settings, or the default that applies when an older log does not name it. */
export function limitOf(context: SessionContext, name: string, otherwise: number): number {
  return context.settings.limits[name] ?? otherwise
}

export function endedStatus(fact: Fact): Status | null {
  switch (fact.type) {
    case 'task.completed':
      return 'completed'
    case 'task.failed':
      return 'failed'
    case 'task.cancelled':
      return 'cancelled'
    case 'task.superseded':
      return 'superseded'
    default:
      return null
  }
}
