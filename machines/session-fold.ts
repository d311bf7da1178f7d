import type { Fact, FactOf } from './facts.ts'
import { endedStatus, isForeground, type SessionContext } from './session-context.ts'
import { depthBelow } from './spawning.ts'
import type { MessageId, Status, TaskId } from './vocabulary.ts'

/** How one accepted fact changes what the session knows. Pure; acceptance is the chart's business. */
export function foldSession(context: SessionContext, fact: Fact): SessionContext {
  const status = endedStatus(fact)
  const changes = status === null ? change(context, fact) : end(context, fact, status)
  return { ...context, ...changes, seq: fact.seq }
}

function change(context: SessionContext, fact: Fact): Partial<SessionContext> {
  switch (fact.type) {
    case 'session.owned':
      return { epoch: fact.data.epoch }
    case 'session.restored':
      return {
        turns: fact.data.turns,
        quarantine: fact.data.quarantined,
        restoring: null,
        restoredFrom: fact.data.from,
      }
    case 'session.closing':
      return { closing: fact.data.then }
    case 'session.closed':
    case 'session.erased':
    case 'session.reopened':
      return { closing: null }
    case 'settings.changed':
      return { settings: fact.data.after }
    case 'mutation.quarantined':
      return { quarantine: [...context.quarantine, ...fact.data.calls] }
    case 'mutation.acknowledged': {
      const acknowledged = new Set(fact.data.calls)
      return { quarantine: context.quarantine.filter((call) => !acknowledged.has(call)) }
    }
    case 'steering.inherited':
    case 'steering.expired':
      return { orphans: without(context.orphans, fact.data.messages) }
    default:
      return fact.task === null ? {} : changeTask(context, fact, fact.task)
  }
}

function changeTask(context: SessionContext, fact: Fact, task: TaskId): Partial<SessionContext> {
  switch (fact.type) {
    case 'task.created':
      return create(context, fact, task)
    case 'task.blocked':
      return { queue: context.queue.map((entry) => (entry.task === task ? { ...entry, blocked: true } : entry)) }
    case 'task.unblocked':
      return {
        queue: context.queue.map((entry) =>
          entry.task === task ? { ...entry, requires: 'none', blocked: false } : entry,
        ),
      }
    case 'task.started':
      return start(context, task)
    case 'task.cancelling': {
      const living = context.tasks[task]
      if (living === undefined) return {}
      const tasks = { ...context.tasks, [task]: { ...living, phase: 'cancelling' as const } }
      return { tasks, expire: task === context.active ? fact.data.steering === 'expire' : context.expire }
    }
    default:
      return {}
  }
}

function create(context: SessionContext, fact: FactOf<'task.created'>, task: TaskId): Partial<SessionContext> {
  const { kind, parent, propagate, requires, predecessor, origin } = fact.data
  const depth = kind === 'background' ? depthBelow(context, parent ?? null) : 0
  const living = { kind, parent: parent ?? null, propagate: propagate ?? null, phase: 'pending' as const, depth }
  const tasks = { ...context.tasks, [task]: living }
  if (origin === 'follow_up') {
    const entry = { task, requires, predecessor: predecessor ?? null, blocked: false }
    return { tasks, queue: [...context.queue, entry] }
  }
  return origin === 'supersede' ? { tasks, slot: task } : { tasks }
}

function start(context: SessionContext, task: TaskId): Partial<SessionContext> {
  const living = context.tasks[task]
  if (living === undefined) return {}
  const tasks = { ...context.tasks, [task]: { ...living, phase: 'started' as const } }
  if (living.kind === 'background') return { tasks }
  return {
    tasks,
    active: task,
    last: { task, status: null },
    turns: context.turns + 1,
    slot: context.slot === task ? null : context.slot,
    queue: context.queue.filter((entry) => entry.task !== task),
    expire: false,
  }
}

function end(context: SessionContext, fact: Fact, status: Status): Partial<SessionContext> {
  const task = fact.task ?? ''
  const { [task]: ended, ...tasks } = context.tasks
  const pending = 'pendingSteering' in fact.data ? fact.data.pendingSteering : []
  const wasActive = context.active === task
  const replaced = wasActive && context.slot !== null
  const expire = !isForeground(context, task) || replaced || context.expire || context.closing !== null
  const orphans =
    ended === undefined || pending.length === 0
      ? context.orphans
      : [...context.orphans, { from: task, messages: pending }]
  return {
    tasks,
    orphans,
    ended: { task, status, expire },
    active: wasActive ? null : context.active,
    last: context.last?.task === task ? { task, status } : context.last,
    slot: context.slot === task ? null : context.slot,
    queue: context.queue.filter((entry) => entry.task !== task),
    expire: wasActive ? false : context.expire,
  }
}

function without(orphans: SessionContext['orphans'], messages: readonly MessageId[]): SessionContext['orphans'] {
  const gone = new Set(messages)
  return orphans
    .map((orphan) => ({ from: orphan.from, messages: orphan.messages.filter((message) => !gone.has(message)) }))
    .filter((orphan) => orphan.messages.length > 0)
}
