/** What the checker remembers of the step at hand. It is emptied at each commit. */
import type { CallId, Effect, MessageId, Status, TaskId, TaskKind } from '../../../machines/vocabulary.ts'
import type { AwaitView, PauseView } from './task-view.ts'

export interface EndedInStep {
  readonly seq: number
  readonly kind: TaskKind
  readonly status: Status
  /** Its pending steering has no heir and must be expired in this step. */
  readonly expires: boolean
}

export interface AwaitSettled {
  readonly task: TaskId
  readonly seq: number
  readonly how: 'done' | 'deadline' | 'interrupted' | 'cancelled'
  /** Null when it was settled before it had begun. */
  readonly awaited: AwaitView | null
}

export interface StepView {
  readonly number: number
  readonly firstSeq: number
  count: number
  /** Types that occurred, with the seq of the first. */
  readonly types: Map<string, number>
  readonly ended: Map<TaskId, EndedInStep>
  readonly created: Map<TaskId, number>
  readonly barriers: Map<TaskId, number>
  /** Barriers that say from whom they cascade. */
  readonly cascades: Map<TaskId, { readonly from: TaskId; readonly seq: number }>
  readonly unknown: Map<CallId, { readonly seq: number; readonly effect: Effect | undefined; quarantined: boolean }>
  readonly applied: { readonly task: TaskId; readonly seq: number; readonly unsaid: MessageId[]; requested: boolean }[]
  readonly expired: { readonly message: MessageId; readonly owner: TaskId; readonly seq: number }[]
  readonly interrupts: Map<TaskId, number>
  readonly denied: { readonly pause: PauseView; readonly seq: number }[]
  readonly withdrawn: { readonly pause: PauseView; readonly seq: number }[]
  readonly replaced: Map<TaskId, number>
  /** Groups that were sealed, or lost a living member. */
  readonly groups: Map<string, number>
  /** Groups that fail fast, with the member's failure. */
  readonly failures: Map<string, number>
  readonly cancelledGroups: Map<string, { readonly seq: number; readonly members: readonly TaskId[] }>
  readonly awaitsBegun: Map<TaskId, number>
  readonly awaitsSettled: AwaitSettled[]
  /** Turns that began, with the results that were to be offered to them. */
  readonly turns: { readonly task: TaskId; readonly seq: number; readonly due: readonly TaskId[] }[]
  /** Accounts that said no, or budgets that were exceeded: the task may not go on. */
  readonly stopped: Map<TaskId, { readonly seq: number; readonly why: string }>
  readonly checkpoints: Map<string, { readonly seq: number; readonly tailStart: number }>
  accepted: { readonly seq: number; readonly result: string } | null
  closing: number | null
}

export function emptyStep(number: number, firstSeq: number): StepView {
  return {
    number,
    firstSeq,
    count: 0,
    types: new Map(),
    ended: new Map(),
    created: new Map(),
    barriers: new Map(),
    cascades: new Map(),
    unknown: new Map(),
    applied: [],
    expired: [],
    interrupts: new Map(),
    denied: [],
    withdrawn: [],
    replaced: new Map(),
    groups: new Map(),
    failures: new Map(),
    cancelledGroups: new Map(),
    awaitsBegun: new Map(),
    awaitsSettled: [],
    turns: [],
    stopped: new Map(),
    checkpoints: new Map(),
    accepted: null,
    closing: null,
  }
}
