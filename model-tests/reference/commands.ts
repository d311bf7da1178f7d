import { endJoining } from './awaiting.ts'
import {
  isGoing,
  isPending,
  isTerminal,
  type Model,
  type Receipt,
  type RefTask,
  refuse,
  taskOf,
  type Verdict,
} from './model.ts'
import { admit, beginBarrier, boundary, continueBatch, end, endHeldCalls } from './scheduling.ts'

/** `id` is the one that a new task or message is to have. `task` names a task that exists. */
export type Command =
  | { readonly type: 'start'; readonly id: string }
  | { readonly type: 'steer'; readonly id: string; readonly task?: string; readonly mode?: 'boundary' | 'interrupt' }
  | { readonly type: 'followUp'; readonly id: string; readonly requires?: 'none' | 'success' }
  | { readonly type: 'supersede'; readonly id: string; readonly task?: string }
  | { readonly type: 'cancel'; readonly task?: string; readonly steering?: 'inherit' | 'expire' }
  | { readonly type: 'unblock' | 'replace'; readonly task: string }
  | { readonly type: 'acknowledge'; readonly calls: readonly string[] | 'all' }
  | { readonly type: 'pause' }
  /** Answers the pause that was opened last. */
  | { readonly type: 'resume'; readonly decision: 'resume' | 'reject' }
  | { readonly type: 'close' | 'erase'; readonly cancel?: boolean }
  | { readonly type: 'reopen' }
  | Spawn
  | { readonly type: 'group'; readonly id: string; readonly failFast: boolean }
  | { readonly type: 'seal' | 'cancelGroup'; readonly group: string }

/** A background task, made by a host, an operator or a planner. */
export interface Spawn {
  readonly type: 'spawn'
  readonly id: string
  readonly parent?: string
  readonly propagate?: 'cascade' | 'isolate'
  readonly group?: string
  readonly key?: string
  /** Stands for the input. */
  readonly input?: string
}

export type CommandOf<T extends Command['type']> = Extract<Command, { readonly type: T }>

export function create(model: Model, id: string, extra: Partial<RefTask>): RefTask {
  const tree = { kind: 'foreground', parent: null, propagate: 'isolate', group: null } as const
  const rest = {
    joining: null,
    awaiting: null,
    requirement: false,
    requesting: false,
    pausing: false,
    asked: 0,
    interrupting: false,
    calls: [],
    steering: [],
    barrier: null,
  }
  const task: RefTask = { id, predecessor: null, replacesActive: false, state: 'queued', ...tree, ...rest, ...extra }
  model.tasks.push(task)
  return task
}

/** Starts when no foreground task is active; a blocked queue does not prevent it and stays. */
export function start(model: Model, { id }: CommandOf<'start'>): Verdict {
  if (taskOf(model, id)) return refuse('TASK_EXISTS')
  if (model.active !== null) return refuse('SESSION_BUSY')
  create(model, id, {})
  // It goes past the queue by way of the slot, which is free: a waiting replacement would have started.
  model.slot = id
  return { results: ['applied'], task: id }
}

/** A turn is steered while it is the active one, a background task while it runs; one that is being cancelled says so. */
export function steer(model: Model, command: CommandOf<'steer'>): Verdict {
  const task = taskOf(model, command.task ?? model.active)
  if (task === undefined && command.task !== undefined) return refuse('TASK_NOT_ACTIVE', 'NOT_FOUND')
  if (task === undefined || isPending(task) || isTerminal(task)) return refuse('TASK_NOT_ACTIVE')
  if (task.state === 'cancelling') return refuse('TASK_CANCELLING')
  task.steering.push(command.id)
  if (command.mode === 'interrupt') {
    endHeldCalls(task)
    endJoining(task)
    if (task.requesting) {
      task.asked = 0
      boundary(model, task)
    } else {
      task.interrupting = true
      continueBatch(model, task)
    }
  }
  return { results: ['applied', 'queued'], task: task.id }
}

/** Dependency binds to the task directly ahead: queue tail, else the slot, else the active one, else the last started. */
export function followUp(model: Model, command: CommandOf<'followUp'>): Verdict {
  if (taskOf(model, command.id)) return refuse('TASK_EXISTS')
  if (model.queue.length >= model.queueBound) return refuse('LIMIT_EXCEEDED')
  const predecessor = model.queue.at(-1) ?? model.slot ?? model.active ?? model.lastForeground
  const waits = model.active !== null || model.queue.length > 0
  const task = create(model, command.id, { predecessor })
  task.requirement = command.requires === 'success'
  model.queue.push(task.id)
  const ended = taskOf(model, predecessor)
  const blocked = task.requirement && ended !== undefined && isTerminal(ended) && ended.state !== 'completed'
  return { results: [waits || blocked ? 'queued' : 'applied'], task: task.id }
}

/** One slot: a newer supersede ends an older unstarted replacement. The first status of a barrier stands. */
export function supersede(model: Model, command: CommandOf<'supersede'>): Verdict {
  if (taskOf(model, command.id)) return refuse('TASK_EXISTS')
  if (command.task !== undefined && command.task !== model.active) return refuse('TASK_NOT_ACTIVE')
  const active = taskOf(model, model.active)
  const older = taskOf(model, model.slot)
  if (older !== undefined) end(model, older, 'superseded')
  create(model, command.id, { replacesActive: active !== undefined })
  model.slot = command.id
  const joins = active?.state === 'cancelling'
  if (active !== undefined && isGoing(active))
    beginBarrier(model, active, { status: 'superseded', steering: 'inherit' })
  const receipt: Receipt = {
    results: joins ? ['applied', 'queued', 'joined'] : ['applied', 'queued'],
    task: command.id,
  }
  return older === undefined ? receipt : { ...receipt, superseded: older.id }
}

export function cancel(model: Model, command: CommandOf<'cancel'>): Verdict {
  const task = taskOf(model, command.task ?? model.active)
  if (task !== undefined && isTerminal(task)) return { results: ['too_late'], task: task.id }
  // A closed session takes no cancel of what waits in it; that something has ended it can still say.
  if (model.lifecycle === 'closed') return refuse('SESSION_CLOSED')
  if (task === undefined) return refuse(command.task === undefined ? 'TASK_NOT_ACTIVE' : 'NOT_FOUND')
  if (isPending(task)) {
    end(model, task, 'cancelled')
    return { results: ['applied'], task: task.id }
  }
  if (task.state === 'cancelling') {
    const joined: Receipt = { results: ['joined'], task: task.id }
    return model.slot === null ? joined : { ...joined, replacement: model.slot }
  }
  beginBarrier(model, task, { status: 'cancelled', steering: command.steering ?? 'inherit' })
  return { results: ['applied'], task: task.id }
}

/** Both leave a pending task without a requirement, in its place. No command succeeds that does nothing. */
export function release(model: Model, command: CommandOf<'unblock' | 'replace'>): Verdict {
  const task = taskOf(model, command.task)
  if (task === undefined) return refuse('NOT_FOUND')
  if (!isPending(task)) return refuse('INVALID_TRANSITION', 'TASK_NOT_ACTIVE')
  if (command.type === 'unblock' && !task.requirement) return refuse('INVALID_TRANSITION')
  task.requirement = false
  task.state = 'queued'
  return { results: ['applied'], task: task.id }
}

/** When the set is empty held calls are checked again in call order and start. */
export function acknowledge(model: Model, { calls }: CommandOf<'acknowledge'>): Verdict {
  if (model.quarantine.length === 0) return refuse('NOT_QUARANTINED')
  const named = calls === 'all' ? model.quarantine : calls
  if (named.length === 0 || named.some((id) => !model.quarantine.includes(id))) {
    return refuse('NOT_QUARANTINED', 'NOT_FOUND', 'INVALID_INPUT')
  }
  model.quarantine = model.quarantine.filter((id) => !named.includes(id))
  if (model.quarantine.length > 0) return { results: ['applied'] }
  for (const task of model.tasks.filter(isGoing))
    for (const call of task.calls) if (call.state === 'held') admit(model, task, call)
  return { results: ['applied'] }
}
