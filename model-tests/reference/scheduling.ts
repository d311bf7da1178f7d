import { isPending, type Model, type RefCall, type RefTask, type Status, startedCalls, taskOf } from './model.ts'

/** What follows of necessity: boundaries, barriers, ends and starts. Each changes the model it is given. */

/** All pending steering is applied together, in order, at the next boundary; then a request goes out. */
export function boundary(model: Model, task: RefTask): void {
  task.requesting = false
  if (task.pausing) {
    task.state = 'paused'
    return
  }
  if (task.asked >= model.requestBound) return end(model, task, 'failed')
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
export function settle(model: Model): void {
  block(model)
  if (model.active !== null) return
  if (model.lifecycle === 'closing') model.lifecycle = model.closingThen === 'erase' ? 'erased' : 'closed'
  if (model.lifecycle !== 'open') return
  const next = taskOf(model, model.slot ?? model.queue[0] ?? null)
  if (next?.state === 'queued') start(model, next)
}

function passOnSteering(model: Model, task: RefTask): void {
  const replaced = model.active === task.id && taskOf(model, model.slot)?.replacesActive === true
  const expires = replaced || model.lifecycle !== 'open' || task.barrier?.steering === 'expire'
  if (expires) model.expired.push(...task.steering)
  else model.orphans.push(...task.steering)
  task.steering = []
}

export function end(model: Model, task: RefTask, status: Status): void {
  if (!isPending(task)) passOnSteering(model, task)
  task.state = status
  task.pausing = false
  task.requesting = false
  model.queue = model.queue.filter((id) => id !== task.id)
  if (model.slot === task.id) model.slot = null
  if (model.active === task.id) model.active = null
}

/** When all started calls have an outcome the one terminal fact is committed. */
export function finishBarrier(model: Model, task: RefTask): void {
  if (task.barrier !== null && startedCalls(task).length === 0) end(model, task, task.barrier.status)
}

/** The gate is shut: every call that is not in flight ends, the request in flight is given up. */
export function beginBarrier(model: Model, task: RefTask, barrier: NonNullable<RefTask['barrier']>): void {
  task.state = 'cancelling'
  task.barrier = barrier
  task.pausing = false
  task.requesting = false
  endHeldCalls(task)
  finishBarrier(model, task)
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

/** The whole batch settles before the next boundary. */
export function continueBatch(model: Model, task: RefTask): void {
  if (startedCalls(task).length > 0) return
  if (!task.calls.some(waits)) boundary(model, task)
  else if (task.pausing) task.state = 'paused'
}
