/**
 * The state of the reference model: one session, its turns and its background tasks, as an operator sees them between two commands.
 * It was written from the published rules alone and knows no chart, so that a test can hold the real runtime against it.
 *
 * 1. Every step of the product is one `apply`; there is nothing between two of them.
 * 2. Ids are given by the caller, who keeps the table of real ids.
 */
export type Status = 'completed' | 'failed' | 'cancelled' | 'superseded'
export type Effect = 'read' | 'idempotent' | 'mutate'
export type CallState = 'requested' | 'held' | 'started' | 'succeeded' | 'failed' | 'cancelled' | 'unknown'

export interface RefCall {
  readonly id: string
  readonly effect: Effect
  state: CallState
  /** Attempts begun so far. */
  attempts: number
  /** Its newest attempt was lost, and none has begun since. */
  interrupted: boolean
}

/** What a task is joined to. */
export interface RefAwait {
  readonly tasks: readonly string[]
  readonly group: string | null
}

export interface RefTask {
  readonly id: string
  readonly kind: 'foreground' | 'background'
  readonly parent: string | null
  readonly propagate: 'cascade' | 'isolate'
  readonly group: string | null
  readonly predecessor: string | null
  /** It was made to replace a task that was active then. */
  readonly replacesActive: boolean
  state: 'queued' | 'blocked' | 'running' | 'paused' | 'cancelling' | Status
  requirement: boolean
  /** A model request is in flight; otherwise a running task waits for its calls. */
  requesting: boolean
  /** The operator's own pause is open: nothing starts. */
  pausing: boolean
  /** Requests made for the answer that is asked for now. One that an interrupt cut off has not failed, and does not count. */
  asked: number
  /** An interrupting steer waits to be applied: nothing of the batch starts, or starts again. */
  interrupting: boolean
  calls: RefCall[]
  /** Asked for by the newest answer; it begins when the calls of the batch have settled. */
  joining: RefAwait | null
  awaiting: RefAwait | null
  /** Pending steering in the order of acceptance. */
  steering: string[]
  barrier: { readonly status: 'cancelled' | 'superseded' | 'failed'; readonly steering: 'inherit' | 'expire' } | null
}

export interface RefGroup {
  readonly id: string
  readonly failFast: boolean
  state: 'open' | 'sealed' | 'resolved' | 'cancelled'
}

export interface Model {
  lifecycle: 'open' | 'closing' | 'closed' | 'erased'
  closingThen: 'close' | 'erase'
  tasks: RefTask[]
  active: string | null
  slot: string | null
  queue: string[]
  lastForeground: string | null
  /** Steering whose task ended; the next foreground task inherits it. */
  orphans: string[]
  applied: string[]
  expired: string[]
  quarantine: string[]
  groups: RefGroup[]
  /** What each idempotency key has made, and of which request. */
  keys: { readonly key: string; readonly task: string; readonly request: string }[]
  /** Own pauses asked for so far. */
  pauses: number
  /** Follow-ups that may wait. */
  readonly queueBound: number
  /** Attempts that a lost read or idempotent call may have in all. */
  readonly attemptBound: number
  /** Requests that may be made for one answer. */
  readonly requestBound: number
  readonly depthBound: number
  readonly childBound: number
}

export type Result = 'applied' | 'queued' | 'joined' | 'too_late' | 'duplicate'

/** `results` holds more than one word where the rules leave open which of them describes what happened. */
export interface Receipt {
  readonly results: readonly Result[]
  readonly task?: string
  readonly replacement?: string
  readonly superseded?: string
}

/** As above: more than one code where the rules name none for the case. */
export interface Refusal {
  readonly refused: readonly string[]
}

export type Verdict = Receipt | Refusal

export function emptyModel(queueBound = 256, depthBound = 8, childBound = 64): Model {
  return {
    queueBound,
    depthBound,
    childBound,
    attemptBound: 4,
    requestBound: 4,
    lifecycle: 'open',
    closingThen: 'close',
    tasks: [],
    active: null,
    slot: null,
    queue: [],
    lastForeground: null,
    orphans: [],
    applied: [],
    expired: [],
    quarantine: [],
    groups: [],
    keys: [],
    pauses: 0,
  }
}

export function isRefusal(verdict: Verdict): verdict is Refusal {
  return 'refused' in verdict
}

export function refuse(...refused: string[]): Refusal {
  return { refused }
}

export function taskOf(model: Model, id: string | null): RefTask | undefined {
  return id === null ? undefined : model.tasks.find((task) => task.id === id)
}

export function isPending(task: RefTask): boolean {
  return task.state === 'queued' || task.state === 'blocked'
}

/** Started, and not ending. */
export function isGoing(task: RefTask): boolean {
  return task.state === 'running' || task.state === 'paused'
}

export function isTerminal(task: RefTask): boolean {
  return !isPending(task) && !isGoing(task) && task.state !== 'cancelling'
}

export function startedCalls(task: RefTask): RefCall[] {
  return task.calls.filter((call) => call.state === 'started')
}

export function membersOf(model: Model, group: string): RefTask[] {
  return model.tasks.filter((task) => task.group === group)
}

/** Nearest first, whatever the links are. */
export function ancestorsOf(model: Model, task: RefTask): RefTask[] {
  const parent = taskOf(model, task.parent)
  return parent === undefined ? [] : [parent, ...ancestorsOf(model, parent)]
}

/** Breadth-first; a child that isolates is left with its subtree, and an ended one is passed through to its children. */
export function cascadeDescendants(model: Model, task: RefTask): RefTask[] {
  const found: RefTask[] = []
  let level = [task]
  while (level.length > 0) {
    const above = level.map(({ id }) => id)
    level = model.tasks.filter(({ parent, propagate }) => propagate === 'cascade' && above.includes(parent ?? ''))
    found.push(...level)
  }
  return found
}

/** What a test compares: names and states, nothing of how the model keeps them. */
export function observe(model: Model) {
  return {
    lifecycle: model.lifecycle,
    active: model.active,
    slot: model.slot,
    queue: [...model.queue],
    tasks: Object.fromEntries(model.tasks.map((task) => [task.id, task.state])),
    calls: Object.fromEntries(model.tasks.flatMap((task) => task.calls.map((call) => [call.id, call.state]))),
    steering: {
      pending: [...model.orphans, ...model.tasks.flatMap((task) => task.steering)],
      applied: [...model.applied],
      expired: [...model.expired],
    },
    quarantine: [...model.quarantine],
    groups: Object.fromEntries(model.groups.map(({ id, state }) => [id, state])),
    awaiting: model.tasks.flatMap((task) => (task.awaiting === null ? [] : [task.id])),
    requesting: model.tasks.flatMap((task) => (task.requesting ? [task.id] : [])),
  }
}
