import type { FactOf } from './facts.ts'
import type {
  BarrierStatus,
  CallCounts,
  CallId,
  Effect,
  HoldReason,
  MessageId,
  Origin,
  PauseReason,
  PauseToken,
  Propagation,
  Purpose,
  Requirement,
  SteeringFate,
  TaskId,
  TaskKind,
  Time,
  Usage,
} from './vocabulary.ts'

/** Steering that may wait in one task, unless the session's settings say less. */
export const pendingSteering = 1_024

/** Pauses that may be open in one session, unless its settings say less. */
export const openPausesMax = 64

export type CallPhase = 'requested' | 'held' | 'started' | 'aborting' | 'verifying' | 'settled'
export type CallOutcome = 'refused' | 'succeeded' | 'failed' | 'cancelled' | 'unknown'

/** What a task knows of a call of its present batch. The call's own chart knows the rest. */
export interface CallEntry {
  readonly name: string
  /** Name and arguments: what makes two calls identical, whatever their ids and key order. */
  readonly key: string
  readonly effect: Effect | null
  readonly index: number
  readonly phase: CallPhase
  readonly hold: HoldReason | null
  readonly token: PauseToken | null
  /** A confirmation given for this call, used up by its start. */
  readonly approved: boolean
  readonly attempts: number
  /** An attempt was lost in a crash. */
  readonly interrupted: boolean
  /** Deadline, end of grace or end of the probe, by phase. */
  readonly until: Time | null
  readonly outcome: CallOutcome | null
}

export interface OpenPause {
  readonly reason: PauseReason
  readonly call: CallId | null
  readonly deadline: Time | null
  /** What is to be decided, in the words of whoever asks. */
  readonly subject: string | null
  readonly seq: number
}

export interface Barrier {
  readonly status: BarrierStatus
  readonly reason: string
  readonly code?: string
  readonly graceUntil: Time
  readonly steering: SteeringFate
  readonly replacement?: TaskId
  /** The task whose cancel walk came by here: it goes on below by itself. */
  readonly cascadedFrom?: TaskId
}

export interface Standstill {
  readonly from: Time
  readonly to: Time
}

export interface TaskContext {
  readonly id: TaskId
  readonly kind: TaskKind
  readonly origin: Origin
  readonly requires: Requirement
  readonly predecessor: TaskId | null
  readonly parent: TaskId | null
  readonly propagate: Propagation | null
  readonly group: string | null
  readonly watermark: number
  readonly createdSeq: number
  /** Owner changes and crashes that the run has been through. */
  readonly resumptions: number
  /** nth answer that is asked for next, from 0. */
  readonly step: number
  /** Requests made for that answer. */
  readonly attempts: number
  readonly request: { readonly purpose: Purpose; readonly deadline: Time } | null
  /** Summaries asked for since the newest turn request, and whether one of them came to an end. */
  readonly summaries: { readonly asked: number; readonly done: boolean }
  readonly retryAt: Time | null
  /** The newest answer asked for no calls. */
  readonly answered: boolean
  readonly usage: Usage
  readonly counts: CallCounts
  readonly calls: { readonly [call: CallId]: CallEntry }
  readonly streak: { readonly kind: 'denial' | 'failure'; readonly key: string; readonly count: number } | null
  readonly steering: readonly MessageId[]
  /** An interrupting steer waits for the next boundary: nothing of the batch starts until then. */
  readonly interrupting: boolean
  readonly pauses: { readonly [token: PauseToken]: OpenPause }
  /** Names of tools whose `once` confirmation was given in this task. */
  readonly confirmed: { readonly [name: string]: true }
  readonly awaiting: {
    readonly tasks: readonly TaskId[]
    readonly group: string | null
    readonly deadline: Time | null
  } | null
  readonly barrier: Barrier | null
  /** Living descendants that a cancel reaches. */
  readonly descendants: { readonly [task: TaskId]: true }
  readonly deadline: Time | null
  readonly pausedAt: Time | null
  /** Since when the running task has nothing but held calls: its time does not run. */
  readonly heldAt: Time | null
  /** When that was so before: the deadline moves by as much. */
  readonly standstills: readonly Standstill[]
  readonly seq: number
}

const noUsage: Usage = { input: 0, output: 0, total: 0 }
export const noSummaries = { asked: 0, done: false }
const noCounts: CallCounts = { total: 0, failed: 0, succeededMutating: 0, unknownMutating: 0, cancelled: 0 }

export function initialTask(fact: FactOf<'task.created'>): TaskContext {
  const { data } = fact
  return {
    id: fact.task ?? '',
    kind: data.kind,
    origin: data.origin,
    requires: data.requires,
    predecessor: data.predecessor ?? null,
    parent: data.parent ?? null,
    propagate: data.propagate ?? null,
    group: data.group ?? null,
    watermark: data.watermark,
    createdSeq: fact.seq,
    resumptions: 0,
    step: 0,
    attempts: 0,
    request: null,
    summaries: noSummaries,
    retryAt: null,
    answered: false,
    usage: noUsage,
    counts: noCounts,
    calls: {},
    streak: null,
    steering: [],
    interrupting: false,
    pauses: {},
    confirmed: {},
    awaiting: null,
    barrier: null,
    descendants: {},
    deadline: null,
    pausedAt: null,
    heldAt: null,
    standstills: [],
    seq: fact.seq,
  }
}

export function entries(context: TaskContext): readonly [CallId, CallEntry][] {
  return Object.entries(context.calls).sort((a, b) => a[1].index - b[1].index)
}

export function isInFlight(entry: CallEntry): boolean {
  return entry.phase === 'started' || entry.phase === 'aborting' || entry.phase === 'verifying'
}

export function inFlight(context: TaskContext): readonly CallId[] {
  return entries(context)
    .filter(([, entry]) => isInFlight(entry))
    .map(([call]) => call)
}

export function ownPause(context: TaskContext): PauseToken | null {
  return Object.keys(context.pauses).find((token) => context.pauses[token]?.call === null) ?? null
}

/** Nothing runs, and something is awaited from outside that holds the task, not only a quarantine that may end at any time. */
export function mayRest(context: TaskContext): boolean {
  if (context.request !== null || inFlight(context).length > 0) return false
  if (ownPause(context) !== null) return true
  if (Object.keys(context.pauses).length === 0) return false
  return !Object.values(context.calls).some(mayMoveByItself)
}

/** A call that starts as soon as it is checked, or when a quarantine ends. */
function mayMoveByItself(entry: CallEntry): boolean {
  if (entry.phase === 'requested') return true
  return entry.phase === 'held' && (entry.hold === 'quarantine' || entry.token === null)
}

export function isSettled(context: TaskContext): boolean {
  return Object.values(context.calls).every((entry) => entry.phase === 'settled')
}

/** Calls are open, and every one of them is held. */
export function isHeldOnly(calls: TaskContext['calls']): boolean {
  const open = Object.values(calls).filter((entry) => entry.phase !== 'settled')
  return open.length > 0 && open.every((entry) => entry.phase === 'held')
}

/** Nothing of the task or below it still acts: the terminal fact may stand. */
export function nothingLives(context: TaskContext): boolean {
  return inFlight(context).length === 0 && Object.keys(context.descendants).length === 0
}
