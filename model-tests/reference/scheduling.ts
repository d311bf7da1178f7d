import { beginJoined, doneWaiting, endJoining } from './awaiting.ts'
import {
  cascadeDescendants,
  isGoing,
  isPending,
  isTerminal,
  type Model,
  membersOf,
  type RefCall,
  type RefTask,
  type Status,
  startedCalls,
  taskOf,
} from './model.ts'

/** What follows of necessity: boundaries, barriers, ends and starts. Each changes the model it is given. */

/** All pending steering is applied together, in order, at the next boundary; then a request goes out. */
export function boundary(model: Model, task: RefTask): void {
  task.requesting = false
  if (task.pausing) {
    task.state = 'paused'
    return
  }
  if (task.asked >= model.requestBound) return fail(model, task)
  task.asked += 1
  model.applied.push(...task.steering)
  task.steering = []
  task.interrupting = false
  task.requesting = true
}

function start(model: Model, task: RefTask): void {
  model.queue = model.queue.filter((id) => id !== task.id)
  if (model.slot === task.id) model.slot = null
  model.active = task.id
  model.lastForeground = task.id
  task.state = 'running'
  // Whatever starts it, the next foreground task inherits what the session holds and applies it at its first boundary.
  task.steering = model.orphans
  model.orphans = []
  boundary(model, task)
}

/** A follow-up whose predecessor ended in any way but `completed` is blocked. */
function block(model: Model): void {
  for (const task of model.tasks) {
    if (task.state !== 'queued' || !task.requirement) continue
    const status = taskOf(model, task.predecessor)?.state
    if (status === 'failed' || status === 'cancelled' || status === 'superseded') task.state = 'blocked'
  }
}

/** The slot goes first; then the head of the queue, which holds back everything behind it while it is blocked. */
function startNext(model: Model): boolean {
  block(model)
  if (model.active !== null) return false
  const busy = model.tasks.some((task) => !isPending(task) && !isTerminal(task))
  if (model.lifecycle === 'closing' && !busy) model.lifecycle = model.closingThen === 'erase' ? 'erased' : 'closed'
  if (model.lifecycle !== 'open') return false
  const next = taskOf(model, model.slot ?? model.queue[0] ?? null)
  if (next?.state !== 'queued') return false
  start(model, next)
  return true
}

function settleAwaits(model: Model): boolean {
  const task = doneWaiting(model)
  if (task === undefined) return false
  task.awaiting = null
  boundary(model, task)
  return true
}

/** What follows of necessity, until nothing more does: barriers end, groups resolve, awaits are done, the next turn begins. */
export function settle(model: Model): void {
  while (finishBarriers(model) || resolveGroups(model) || settleAwaits(model) || startNext(model));
}

function passOnSteering(model: Model, task: RefTask): void {
  const replaced = model.active === task.id && taskOf(model, model.slot)?.replacesActive === true
  const expires =
    task.kind === 'background' || replaced || model.lifecycle !== 'open' || task.barrier?.steering === 'expire'
  if (expires) model.expired.push(...task.steering)
  else model.orphans.push(...task.steering)
  task.steering = []
}

export function end(model: Model, task: RefTask, status: Status): void {
  if (!isPending(task)) passOnSteering(model, task)
  task.state = status
  task.pausing = false
  endJoining(task)
  task.requesting = false
  model.queue = model.queue.filter((id) => id !== task.id)
  if (model.slot === task.id) model.slot = null
  if (model.active === task.id) model.active = null
  if (status === 'failed') failFast(model, task)
}

/** The first failure of a member cancels the rest. */
function failFast(model: Model, task: RefTask): void {
  const group = model.groups.find(({ id }) => id === task.group)
  if (group?.failFast !== true || (group.state !== 'open' && group.state !== 'sealed')) return
  endMembers(model, group.id)
}

export function endMembers(model: Model, group: string): void {
  for (const member of membersOf(model, group))
    if (isGoing(member)) beginBarrier(model, member, { status: 'cancelled', steering: 'inherit' })
}

/** A sealed group resolves when all members are terminal, once. */
function resolveGroups(model: Model): boolean {
  const over = model.groups.filter(({ id, state }) => state === 'sealed' && membersOf(model, id).every(isTerminal))
  for (const group of over) group.state = 'resolved'
  return over.length > 0
}

/** When all started calls have an outcome and every cascading child is terminal, the one terminal fact is committed. */
function finishBarriers(model: Model): boolean {
  const over = model.tasks.find(
    (task) =>
      task.state === 'cancelling' &&
      startedCalls(task).length === 0 &&
      cascadeDescendants(model, task).every(isTerminal),
  )
  if (over?.barrier == null) return false
  end(model, over, over.barrier.status)
  return true
}

/** It goes through the barrier while calls are in flight or a cascade descendant lives. */
export function fail(model: Model, task: RefTask): void {
  if (startedCalls(task).length > 0 || !cascadeDescendants(model, task).every(isTerminal)) {
    beginBarrier(model, task, { status: 'failed', steering: 'inherit' })
    return
  }
  endHeldCalls(task)
  end(model, task, 'failed')
}

/** The gate is shut: every call that is not in flight ends, the request in flight is given up. */
function shut(task: RefTask, barrier: NonNullable<RefTask['barrier']>): void {
  task.state = 'cancelling'
  task.barrier = barrier
  task.pausing = false
  task.requesting = false
  endHeldCalls(task)
  endJoining(task)
}

/** The walk goes over every cascade descendant in one step. A barrier that had begun keeps its status. */
export function beginBarrier(model: Model, task: RefTask, barrier: NonNullable<RefTask['barrier']>): void {
  shut(task, barrier)
  for (const child of cascadeDescendants(model, task))
    if (isGoing(child)) shut(child, { status: 'cancelled', steering: 'inherit' })
}

/** An idempotent call whose attempt was lost may have happened; everything else that is held did not. */
export function endHeldCalls(task: RefTask): void {
  for (const call of task.calls)
    if (waits(call)) call.state = call.interrupted && call.effect === 'idempotent' ? 'unknown' : 'cancelled'
}

export function waits(call: RefCall): boolean {
  return call.state === 'requested' || call.state === 'held'
}

/** A change or an idempotent call waits while anything is quarantined; a read does not. Nothing starts under a pause. */
export function admit(model: Model, task: RefTask, call: RefCall): void {
  if (task.pausing) return
  const held = model.quarantine.length > 0 && call.effect !== 'read'
  call.state = held ? 'held' : 'started'
  if (held) return
  call.attempts += 1
  call.interrupted = false
}

/** Nobody can tell what the call did: of a read nothing uncertain remains, a change is quarantined. */
export function lose(model: Model, call: RefCall): void {
  call.state = call.effect === 'read' ? 'cancelled' : 'unknown'
  if (call.effect === 'mutate') model.quarantine.push(call.id)
}

/** The whole batch settles before the next boundary, and before an await begins. */
export function continueBatch(model: Model, task: RefTask): void {
  if (startedCalls(task).length > 0) return
  if (task.calls.some(waits)) {
    if (task.pausing) task.state = 'paused'
  } else if (task.joining !== null || task.awaiting !== null) beginJoined(task)
  else boundary(model, task)
}
