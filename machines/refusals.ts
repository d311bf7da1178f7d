import type { OperatorCommand } from './commands.ts'
import { isEnding, memoryBound, openPauses, pauseOf, pausesBound, steeringBound } from './decide.ts'
import { ownEntry } from './own-entry.ts'
import { acceptedDecisions } from './pause-decisions.ts'
import { notFound, type Refusal, refusal } from './refusal.ts'
import { limitOf, queuedPerSession, type SessionContext } from './session-context.ts'
import { refusedSpawn } from './spawn-refusals.ts'
import type { Digest, TaskId } from './vocabulary.ts'
import type { World } from './world.ts'

type Name = OperatorCommand['name']

/** Commands that a closed session still takes. */
const takenWhenClosed: readonly Name[] = ['reopen', 'erase', 'acknowledge']

/**
 * The code of each refusal, beside the guards that refuse. Called after a chart has said no, so it explains and does not decide:
 * the reasons are tried from the widest (the session's life) to the narrowest (the state of one task).
 */
export function nameRefusal(world: World, command: OperatorCommand): Refusal {
  return refusedForLife(world, command) ?? refusedForTask(world, command) ?? invalid(world, command)
}

function refusedForLife(world: World, command: OperatorCommand): Refusal | null {
  const session = world.session
  if (session === null) return null
  if (session.matches({ lifecycle: 'erased' }))
    return refusal('SESSION_ERASED', 'This session was erased; use another session id.')
  if (command.name === 'restore') return contextFixed(session.context, command.from)
  if (session.context.restoring !== null)
    return refusal('SESSION_RESTORING', 'A restore of this session was cut off. Restore the same checkpoint again.')
  if (session.matches({ lifecycle: 'open' }) || takenWhenClosed.includes(command.name)) return null
  const accepted = session.matches({ lifecycle: 'closed' }) ? takenWhenClosed : ['erase', 'acknowledge']
  return refusal('SESSION_CLOSED', 'This session is closed; reopen it, or use another session id.', { accepted })
}

function refusedForTask(world: World, command: OperatorCommand): Refusal | null {
  const session = world.session?.context
  switch (command.name) {
    case 'start':
      return Object.hasOwn(session?.tasks ?? {}, command.request.task) ? taskExists(command.request.task) : busy(world)
    case 'followUp':
      return queueFull(world)
    case 'supersede':
      return notActive(world, command.task)
    case 'steer':
    case 'pause':
      return notSteerable(world, command.name, command.task)
    case 'cancel':
      return command.task === undefined ? notActive(world, undefined) : notFound('task', command.task)
    case 'spawn':
      return refusedSpawn(world, command)
    case 'sealGroup':
    case 'cancelGroup':
      return notFound('group', command.group)
    case 'unblock':
    case 'replace':
      return notChangeable(world, command)
    case 'reduceGrant':
      return cannotGrow(world, command)
    case 'acknowledge':
      return refusal(
        'NOT_QUARANTINED',
        'Nothing to acknowledge: name calls of the quarantine, or "all" of a quarantined session.',
        {
          quarantined: session?.quarantine ?? [],
        },
      )
    case 'memoryPut':
      return refusal('LIMIT_EXCEEDED', 'The session holds as many notes as it may. Remove one first.', {
        which: 'memoryItems',
        bound: memoryBound(world),
        got: world.memory.size + 1,
      })
    case 'memoryRemove':
      return refusal('NOT_FOUND', 'No such note in this memory.')
    case 'resume':
      return notOpen(world, command)
    case 'close':
    case 'erase':
      return busyToEnd(world)
    default:
      return null
  }
}

function contextFixed({ restoredFrom }: SessionContext, from: Digest): Refusal {
  const message = 'This session has a history of its own. Restore the checkpoint to a session that was never opened.'
  return refusal('CONTEXT_FIXED', message, { same: restoredFrom === from })
}

function notChangeable(world: World, { name, task }: { name: string; task: TaskId }): Refusal {
  if (!world.taskRecords.has(task)) return notFound('task', task)
  const message =
    world.tasks.get(task)?.matches('pending') === true
      ? 'This task waits for the success of no other, so there is nothing to unblock.'
      : `Only a pending task takes ${name}; this one has started or ended.`
  return refusal('INVALID_TRANSITION', message, { task })
}

function busy(world: World): Refusal {
  const session = world.session?.context
  const task = session?.active ?? session?.slot ?? null
  const snapshot = task === null ? undefined : world.tasks.get(task)
  const steerable = snapshot !== undefined && !snapshot.matches('pending') && !isEnding(snapshot)
  return refusal('SESSION_BUSY', 'A turn is active. Steer it, queue a follow-up, supersede it or cancel it.', {
    task,
    accepted: [...(steerable ? ['steer'] : []), 'followUp', 'supersede', 'cancel'],
  })
}

function busyToEnd(world: World): Refusal | null {
  const tasks = Object.entries(world.session?.context.tasks ?? {}).filter(([, task]) => task.phase !== 'pending')
  if (tasks.length === 0) return null
  return refusal('SESSION_BUSY', 'Tasks are active. Cancel them first, or pass cancel: true.', {
    tasks: tasks.map(([task]) => task),
    accepted: ['cancel'],
  })
}

function notActive(world: World, named: TaskId | undefined): Refusal {
  const active = world.session?.context.active ?? null
  if (named !== undefined && !world.taskRecords.has(named)) return notFound('task', named)
  return refusal('TASK_NOT_ACTIVE', 'The named task is not the active one; nothing was changed.', {
    task: named ?? null,
    active,
  })
}

function notSteerable(world: World, name: 'steer' | 'pause', named: TaskId | undefined): Refusal {
  const target = named ?? world.session?.context.active ?? null
  const snapshot = target === null ? undefined : world.tasks.get(target)
  if (snapshot === undefined || snapshot.matches('pending')) return notActive(world, named)
  if (isEnding(snapshot))
    return refusal('TASK_CANCELLING', 'The task is being cancelled and takes no more input; queue a follow-up.', {
      task: target,
      accepted: ['followUp', 'supersede'],
    })
  const bound = steeringBound(world)
  const got = snapshot.context.steering.length
  if (name === 'steer' && got >= bound)
    return refusal('LIMIT_EXCEEDED', `Too much steering waits for the next boundary (${bound}).`, {
      which: 'pendingSteeringPerTask',
      bound,
      got: got + 1,
    })
  const open = openPauses(world)
  if (name === 'pause' && open >= pausesBound(world))
    return refusal('LIMIT_EXCEEDED', `Too many pauses are open (${pausesBound(world)}). Decide some of them.`, {
      which: 'openPausesPerSession',
      bound: pausesBound(world),
      got: open + 1,
    })
  return invalidState(String(target), snapshot.value)
}

function cannotGrow(world: World, { task, id }: Extract<OperatorCommand, { name: 'reduceGrant' }>): Refusal {
  const record = world.taskRecords.get(task)
  if (record === undefined) return notFound('task', task)
  if (record.ended !== null) return refusal('TASK_NOT_ACTIVE', 'The task has ended; its grants are of no use any more.')
  const before = ownEntry(record.grants, id)
  if (before === undefined) return notFound('capability', id)
  return refusal('CEILING_CANNOT_GROW', 'Grants of a task can only be reduced; nothing was changed.', { id, before })
}

function notOpen(world: World, { token, confirms, decision }: Extract<OperatorCommand, { name: 'resume' }>): Refusal {
  if (world.settledPauses.has(token))
    return refusal('ALREADY_SETTLED', 'This pause was settled before; its decision stands.')
  const reason = pauseOf(world, token)?.reason
  if (reason === undefined)
    return refusal('PAUSE_NOT_FOUND', 'No open pause has this token; list the open ones with pauses().')
  if (confirms === true && reason !== 'approval')
    return refusal('CONFIRMATION_MISMATCH', 'This pause is no confirmation. Answer it with resume.', { reason })
  const accepted = acceptedDecisions[reason]
  if (!accepted.includes(decision))
    return refusal('INVALID_INPUT', `A pause for ${reason} is settled with ${accepted.join(', ')}.`, {
      field: 'decision',
      reason,
      accepted,
    })
  return refusal('INVALID_TRANSITION', 'The pause cannot be settled now.')
}

function taskExists(task: TaskId): Refusal {
  return refusal('TASK_EXISTS', 'This task id was used before; leave it out and one is made.', { task })
}

function queueFull(world: World): Refusal {
  const session = world.session?.context
  const bound = session === undefined ? queuedPerSession : limitOf(session, 'queuedPerSession', queuedPerSession)
  return refusal('LIMIT_EXCEEDED', `The queue is full (${bound}); wait, or cancel a pending task.`, {
    which: 'queuedPerSession',
    bound,
    got: (session?.queue.length ?? 0) + 1,
  })
}

function invalidState(task: string, state: unknown): Refusal {
  return refusal('INVALID_TRANSITION', 'The task is in a state that does not take this command.', { task, state })
}

function invalid(world: World, command: OperatorCommand): Refusal {
  return refusal('INVALID_TRANSITION', `The session does not take ${command.name} in its present state.`, {
    state: world.session?.value ?? null,
  })
}
