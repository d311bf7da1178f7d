/**
 * The state of the reference model: one session and its foreground tasks, as an operator sees them between two commands.
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

export interface RefTask {
  readonly id: string
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
  /** Pending steering in the order of acceptance. */
  steering: string[]
  barrier: { readonly status: 'cancelled' | 'superseded' | 'failed'; readonly steering: 'inherit' | 'expire' } | null
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
  /** Own pauses asked for so far. */
  pauses: number
  /** Follow-ups that may wait. */
  readonly queueBound: number
  /** Attempts that a lost read or idempotent call may have in all. */
  readonly attemptBound: number
  /** Requests that may be made for one answer. */
  readonly requestBound: number
}

export type Result = 'applied' | 'queued' | 'joined' | 'too_late'

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

export function emptyModel(queueBound = 256): Model {
  return {
    queueBound,
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
  }
}
