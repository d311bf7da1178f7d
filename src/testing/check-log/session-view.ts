/**
 * What the checker remembers of one session. It owns the mutable projection that the rules read.
 *
 * 1. Folds change it only after every rule has judged the fact, so rules always see the state before.
 * 2. A task lives in `tasks` from its creation to its terminal; its calls, grants and counters go with it.
 * 3. `step` is emptied at each commit; nothing in it outlives the step.
 * 4. What grows with history is small and named here: `ended` (an id, a status and a place in the tree a task), `offered`
 *    (an id a result), `keys` (a string a keyed spawn), `commands` (a string a named command), `lateable` (an id a call that
 *    ended without its own result), `firedGroups`, `explorations` and `warned` (a string each). Everything else is bounded
 *    by what lives.
 */
import type { CallId, MessageId, PauseToken, Status, TaskId } from '../../../machines/vocabulary.ts'
import type { Scope } from '../../facts/scope.ts'
import { emptyStep, type StepView } from './step-view.ts'
import type { StoreView } from './store-view.ts'
import type { EndedTask, PauseView, TaskView } from './task-view.ts'

export interface SteeringView {
  readonly message: MessageId
  readonly mode: 'boundary' | 'interrupt'
  /** The task that has it, or had it last. */
  owner: TaskId
  /** Its task ended; it stays with the session. */
  orphaned: boolean
}

export interface GroupView {
  readonly failFast: boolean
  sealed: boolean
  /** With the status of those that have ended. */
  readonly members: Map<TaskId, Status | null>
}

export interface SessionView {
  readonly scope: Scope
  readonly control: boolean
  /** What the control stream of the store has told so far; all sessions of one checker share it. */
  readonly store: StoreView
  lastSeq: number
  lastCursor: number
  lastId: string
  owner: { readonly id: string; readonly epoch: number } | null
  /** The newest epoch whose owner has said so; the one that opens the session needs not. */
  announced: number | null
  lifecycle: 'new' | 'open' | 'closing' | 'closed' | 'erased'
  closingThen: 'close' | 'erase'
  active: TaskId | null
  lastForeground: TaskId | null
  queue: TaskId[]
  slot: TaskId[]
  readonly tasks: Map<TaskId, TaskView>
  readonly ended: Map<TaskId, EndedTask>
  readonly offered: Set<TaskId>
  /** Background tasks that ended after their parent, and whose result nobody has seen. */
  readonly unoffered: Map<TaskId, Status>
  readonly keys: Map<string, TaskId>
  readonly lateable: Set<CallId>
  readonly quarantine: Set<CallId>
  readonly pauses: Map<PauseToken, PauseView>
  readonly groups: Map<string, GroupView>
  readonly firedGroups: Set<string>
  readonly commands: Set<string>
  /** Digests of the keys of notes that there are. */
  readonly notes: Set<string>
  readonly explorations: Set<string>
  /** Versions of the newest summary of each lane. */
  readonly summaries: Map<string, number>
  /** The view of a restored session is being written, and is not committed. */
  restoring: boolean
  restored: boolean
  /** Tool calls of a restored view that have no result yet. */
  unanswered: CallId[]
  /** Messages added to the session's conversation. */
  said: number
  readonly warned: Set<string>
  steering: SteeringView[]
  used: number
  controlVersion: number
  step: StepView
}

export function emptySession(scope: Scope, control: boolean, store: StoreView): SessionView {
  return {
    scope,
    control,
    store,
    lastSeq: 0,
    lastCursor: -1,
    lastId: '',
    owner: null,
    announced: null,
    lifecycle: 'new',
    closingThen: 'close',
    active: null,
    lastForeground: null,
    queue: [],
    slot: [],
    tasks: new Map(),
    ended: new Map(),
    offered: new Set(),
    unoffered: new Map(),
    keys: new Map(),
    lateable: new Set(),
    quarantine: new Set(),
    pauses: new Map(),
    groups: new Map(),
    firedGroups: new Set(),
    commands: new Set(),
    notes: new Set(),
    explorations: new Set(),
    summaries: new Map(),
    restoring: false,
    restored: false,
    unanswered: [],
    said: 0,
    warned: new Set(),
    steering: [],
    used: 0,
    controlVersion: 0,
    step: emptyStep(0, 0),
  }
}
