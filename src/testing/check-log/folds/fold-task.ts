import type { FactOf } from '../../../../machines/facts.ts'
import type { Status, TaskId } from '../../../../machines/vocabulary.ts'
import type { StoredFact, StoredFactOf } from '../../../facts/envelope.ts'
import type { SessionView } from '../session-view.ts'
import type { EndedTask, TaskView } from '../task-view.ts'

const statuses: ReadonlyMap<string, Status> = new Map([
  ['task.completed', 'completed'],
  ['task.failed', 'failed'],
  ['task.cancelled', 'cancelled'],
  ['task.superseded', 'superseded'],
])

export function terminalStatus(type: string): Status | undefined {
  return statuses.get(type)
}

type Place = Pick<TaskView, 'ancestors' | 'cascadeAncestors' | 'depth'>

/** The place in the tree, which a parent that has ended still gives. */
function placeOf(view: SessionView, data: FactOf<'task.created'>['data']): Place {
  const { parent, propagate } = data
  if (parent === undefined) return { ancestors: [], cascadeAncestors: [], depth: data.kind === 'background' ? 1 : 0 }
  const above = view.tasks.get(parent) ?? view.ended.get(parent)
  return {
    ancestors: [parent, ...(above?.ancestors ?? [])],
    cascadeAncestors: propagate === 'isolate' ? [] : [parent, ...(above?.cascadeAncestors ?? [])],
    depth: (above?.depth ?? 0) + 1,
  }
}

function create(view: SessionView, id: TaskId, fact: StoredFactOf<'task.created'>): void {
  const { data } = fact
  view.tasks.set(id, {
    id,
    kind: data.kind,
    origin: data.origin,
    parent: data.parent ?? null,
    group: data.group ?? null,
    predecessor: data.predecessor ?? null,
    replacesActive: data.origin === 'supersede' && view.active !== null,
    ...placeOf(view, data),
    limits: data.limits ?? {},
    startedSeq: 0,
    state: 'pending',
    requirement: data.requires === 'success',
    predecessorStatus: data.predecessor === undefined ? null : (view.ended.get(data.predecessor)?.status ?? null),
    blocked: false,
    run: fact.run,
    attempt: 0,
    epoch: null,
    barrier: null,
    request: null,
    accounted: null,
    position: null,
    answers: 0,
    stepsBegun: 0,
    asked: null,
    unanswered: [],
    calls: new Map(),
    tally: { asked: 0, requested: 0, failed: 0, refused: 0, succeededMutating: 0, unknownMutating: 0, cancelled: 0 },
    settled: [],
    everAsked: [],
    said: 0,
    awaiting: null,
    grants: new Map(),
    refs: null,
    skills: new Map(),
    confirmed: new Set(),
    episode: null,
    summarised: false,
    charged: 0,
  })
  view.step.created.set(id, fact.seq)
  if (data.origin === 'follow_up') view.queue.push(id)
  if (data.origin === 'supersede') view.slot.push(id)
  if (data.group !== undefined) view.groups.get(data.group)?.members.set(id, null)
  if (data.idempotencyKey !== undefined) view.keys.set(data.idempotencyKey, id)
}

function leaveWaiting(view: SessionView, id: TaskId): void {
  view.queue = view.queue.filter((other) => other !== id)
  view.slot = view.slot.filter((other) => other !== id)
}

function start(view: SessionView, task: TaskView, fact: StoredFactOf<'task.started'>): void {
  task.state = 'running'
  task.startedSeq = fact.seq
  task.epoch = fact.owner?.epoch ?? null
  task.refs = new Map(fact.data.capabilities.map((ref) => [ref.id, ref]))
  for (const [capability, grant] of Object.entries(fact.data.grants)) task.grants.set(capability, grant)
  if (task.kind === 'background') return
  leaveWaiting(view, task.id)
  view.active = task.id
  view.lastForeground = task.id
  const due = [...view.unoffered].filter(([, status]) => status === 'completed' || status === 'failed')
  view.step.turns.push({ task: task.id, seq: fact.seq, due: due.map(([id]) => id) })
}

/** Steering has no heir when a replacement of the active task waits, or the command said so (page 2, Steering 6). */
function steeringExpires(view: SessionView, task: TaskView): boolean {
  if (task.kind === 'background' || task.barrier?.steering === 'expire') return true
  return view.active === task.id && view.slot.some((id) => view.tasks.get(id)?.replacesActive === true)
}

/** A background task that ends after its parent is offered to the next turn (page 2, Background tasks). */
function leaveResult(view: SessionView, task: TaskView, status: Status): boolean {
  if (task.kind !== 'background') return false
  const afterParent = task.parent === null || view.ended.has(task.parent)
  if (afterParent && task.parent !== null) view.unoffered.set(task.id, status)
  return afterParent
}

function leaveGroup(view: SessionView, task: TaskView, seq: number, status: Status): void {
  const group = task.group === null ? undefined : view.groups.get(task.group)
  if (group === undefined || task.group === null) return
  group.members.set(task.id, status)
  view.step.groups.set(task.group, seq)
  if (group.failFast && status === 'failed') view.step.failures.set(task.group, seq)
}

function end(view: SessionView, task: TaskView, seq: number, status: Status): void {
  const { kind, group, ancestors, cascadeAncestors, depth } = task
  view.step.ended.set(task.id, { seq, kind, status, expires: steeringExpires(view, task) })
  const ended: EndedTask = {
    status,
    kind,
    seq,
    group,
    ancestors,
    cascadeAncestors,
    depth,
    afterParent: leaveResult(view, task, status),
  }
  for (const steer of view.steering) if (steer.owner === task.id) steer.orphaned = true
  for (const other of view.tasks.values()) if (other.predecessor === task.id) other.predecessorStatus = status
  leaveGroup(view, task, seq, status)
  view.summaries.delete(task.id)
  leaveWaiting(view, task.id)
  if (view.active === task.id) view.active = null
  view.tasks.delete(task.id)
  view.ended.set(task.id, ended)
}

function move(view: SessionView, task: TaskView, fact: StoredFact): void {
  switch (fact.type) {
    case 'task.started':
      start(view, task, fact)
      return
    case 'task.blocked':
      task.blocked = true
      return
    case 'task.unblocked':
      task.blocked = false
      task.requirement = false
      return
    case 'task.input_replaced':
      view.step.replaced.set(task.id, fact.seq)
      return
    case 'run.resumed':
      task.attempt = fact.data.attempt
      task.epoch = fact.owner?.epoch ?? null
      return
    case 'task.paused':
      task.state = 'paused'
      return
    case 'task.resumed':
      task.state = 'running'
      return
    case 'task.cancelling':
      task.state = 'cancelling'
      task.barrier = { status: fact.data.status, steering: fact.data.steering }
      view.step.barriers.set(task.id, fact.seq)
      if (fact.data.cascadedFrom !== undefined) {
        view.step.cascades.set(task.id, { from: fact.data.cascadedFrom, seq: fact.seq })
      }
      return
    case 'task.quiescing':
      task.state = 'quiescing'
      return
    case 'grant.reduced':
      task.grants.set(fact.data.id, fact.data.after)
      return
    default:
      return
  }
}

export function foldTask(view: SessionView, fact: StoredFact): void {
  if (fact.task === null) return
  if (fact.type === 'task.created') {
    if (!view.tasks.has(fact.task) && !view.ended.has(fact.task)) create(view, fact.task, fact)
    return
  }
  const task = view.tasks.get(fact.task)
  if (task === undefined) return
  task.run ??= fact.run
  const status = terminalStatus(fact.type)
  if (status !== undefined) end(view, task, fact.seq, status)
  else move(view, task, fact)
}
