import type { AgendaItem } from './agenda.ts'
import type { OperatorCommand, TaskRequest } from './commands.ts'
import { decideGroup, keptFor } from './decide-background.ts'
import type { Draft } from './facts.ts'
import { isWithin } from './grant-order.ts'
import { memoryNotesMax } from './memory-reducer.ts'
import { ownEntry } from './own-entry.ts'
import { acceptedDecisions } from './pause-decisions.ts'
import { limitOf, predecessorNow } from './session-context.ts'
import { openPausesMax, ownPause, pendingSteering } from './task-context.ts'
import type { Origin, PauseReason, TaskId } from './vocabulary.ts'
import type { SessionSnapshot, TaskSnapshot, World } from './world.ts'

export type Decided =
  /** First facts of the step; the fold accepts or refuses them. */
  | { readonly kind: 'step'; readonly agenda: readonly AgendaItem[]; readonly target: string | null }
  /** Nothing to change, and the receipt says so. */
  | {
      readonly kind: 'noted'
      readonly result: 'joined' | 'too_late'
      readonly target: string | null
      readonly reused?: true
    }
  /** No fact can be drafted; `refusals.ts` names the reason. */
  | { readonly kind: 'refused' }

const refused: Decided = { kind: 'refused' }

/** Drafts the first fact of a command. Pure; whether it is accepted is the charts' decision. */
export function decide(world: World, command: OperatorCommand): Decided {
  switch (command.name) {
    case 'start':
      return create(world, command.request, 'start')
    case 'followUp':
      return create(world, command.request, 'follow_up', { requires: command.requires })
    case 'supersede': {
      const active = world.session?.context.active ?? null
      if (command.task !== undefined && command.task !== active) return refused
      return create(world, command.request, 'supersede', active === null ? {} : { replaces: active })
    }
    case 'spawn': {
      const kept = keptFor(world, command)
      // What is left of an erased session is nothing that a request could be compared with.
      const same = kept?.same === true && world.session?.matches({ lifecycle: 'erased' }) !== true
      if (kept !== null) return same ? { kind: 'noted', result: 'joined', target: kept.task, reused: true } : refused
      const { parent, propagate, group, idempotencyKey } = command
      // A session that this would open has neither, and an opening is not refused halfway.
      if (world.session === null && (parent !== undefined || group !== undefined)) return refused
      return create(world, command.request, 'spawn', {
        propagate,
        ...(parent === undefined ? {} : { parent }),
        ...(group === undefined ? {} : { group }),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      })
    }
    case 'createGroup':
    case 'sealGroup':
    case 'cancelGroup': {
      const decided = decideGroup(world, command)
      if (decided === null) return refused
      return typeof decided === 'string'
        ? { kind: 'noted', result: decided, target: command.group }
        : step(command.group, decided)
    }
    case 'steer': {
      const target = command.task ?? world.session?.context.active ?? null
      if (target === null || isFull(world, target)) return refused
      const { message, digest, bytes, mode } = command
      return step(target, { type: 'steering.queued', task: target, data: { message, digest, bytes, mode } })
    }
    case 'cancel':
      return decideCancel(world, command)
    case 'pause': {
      const target = command.task ?? world.session?.context.active ?? null
      const snapshot = target === null ? undefined : world.tasks.get(target)
      if (target === null || snapshot === undefined) return refused
      if (ownPause(snapshot.context) !== null) return { kind: 'noted', result: 'joined', target }
      if (openPauses(world) >= pausesBound(world)) return refused
      return step(target, {
        type: 'pause.requested',
        task: target,
        data: { token: command.token, reason: 'operator' },
      })
    }
    default:
      return decideRest(world, command)
  }
}

function decideRest(world: World, command: OperatorCommand): Decided {
  const session = world.session?.context
  switch (command.name) {
    case 'unblock':
      return step(command.task, { type: 'task.unblocked', task: command.task, data: {} })
    case 'replace': {
      // Only the task's own chart hears of its new input, and it knows nothing of the session's life.
      if (!world.session?.matches({ lifecycle: 'open' })) return refused
      const data = { ...command.request, watermark: world.seq }
      return step(command.task, { type: 'task.input_replaced', task: command.task, data })
    }
    case 'reduceGrant':
      return decideGrant(world, command)
    case 'acknowledge': {
      const calls = command.calls === 'all' ? (session?.quarantine ?? []) : command.calls
      return step(null, { type: 'mutation.acknowledged', data: { calls } })
    }
    case 'restore':
      return decideRestore(world, command)
    case 'memoryPut': {
      if (world.session !== null && !takesNotes(world.session)) return refused
      const { key, digest, bytes } = command
      if (!world.memory.has(key) && world.memory.size >= memoryBound(world)) return refused
      return step(null, { type: 'memory.put', data: { key, scope: 'session', digest, bytes } })
    }
    case 'memoryRemove':
      if (world.session === null || !takesNotes(world.session) || !world.memory.has(command.key)) return refused
      return step(null, { type: 'memory.removed', data: { key: command.key, scope: 'session' } })
    case 'reopen':
      return step(null, { type: 'session.reopened', data: {} })
    case 'close':
    case 'erase':
      return decideEnd(world, command)
    case 'resume': {
      const found = pauseOf(world, command.token)
      const { token, decision, input } = command
      if (found === null || (command.confirms === true && found.reason !== 'approval')) return refused
      if (!acceptedDecisions[found.reason].includes(decision)) return refused
      const data = { token, decision, ...(input === undefined ? {} : { input }) }
      return step(found.task, { type: 'pause.settled', task: found.task, call: found.call, data })
    }
    default:
      return refused
  }
}

type Extra = Partial<Draft<'task.created'>['data']>

function create(world: World, request: TaskRequest, origin: Origin, extra: Extra = {}): Decided {
  const { task, ...given } = request
  const predecessor = world.session === null ? null : predecessorNow(world.session.context)
  const data: Draft<'task.created'>['data'] = {
    kind: origin === 'spawn' ? 'background' : 'foreground',
    origin,
    requires: 'none',
    watermark: world.seq,
    ...(origin === 'follow_up' && predecessor !== null ? { predecessor } : {}),
    ...given,
    ...extra,
  }
  return step(task, { type: 'task.created', task, data })
}

function decideCancel(world: World, command: Extract<OperatorCommand, { name: 'cancel' }>): Decided {
  const target = command.task ?? world.session?.context.active ?? null
  if (target === null || world.session?.matches({ lifecycle: 'erased' })) return refused
  const snapshot = world.tasks.get(target)
  if (snapshot === undefined)
    return world.taskRecords.has(target) ? { kind: 'noted', result: 'too_late', target } : refused
  if (isEnding(snapshot)) return { kind: 'noted', result: 'joined', target }
  if (world.session?.matches({ lifecycle: 'closed' })) return refused
  const { reason, steering } = command
  if (snapshot.matches('pending'))
    return { kind: 'step', target, agenda: [{ ask: 'endTask', task: target, status: 'cancelled', reason }] }
  return {
    kind: 'step',
    target,
    agenda: [{ ask: 'cancelTask', task: target, status: 'cancelled', reason, steering }],
  }
}

function decideEnd(world: World, command: Extract<OperatorCommand, { name: 'close' | 'erase' }>): Decided {
  const session = world.session?.context
  if (session === undefined) return refused
  const busy = Object.values(session.tasks).some((task) => task.phase !== 'pending')
  if (world.session?.matches({ lifecycle: 'erased' })) return refused
  if (command.name === 'close' && world.session?.matches({ lifecycle: 'closed' })) return refused
  if (session.closing === command.name) return { kind: 'noted', result: 'joined', target: null }
  if (session.closing === 'erase') return refused
  if (busy && !command.cancel && session.closing === null) return refused
  const { reason } = command
  return step(null, {
    type: 'session.closing',
    data: { then: command.name, ...(reason === undefined ? {} : { reason }) },
  })
}

/** A ceiling only shrinks, so a grant that does not is refused here: no chart holds grants. */
function decideGrant(world: World, { task, id, grant }: Extract<OperatorCommand, { name: 'reduceGrant' }>): Decided {
  const record = world.tasks.has(task) ? world.taskRecords.get(task) : undefined
  const before = record === undefined ? undefined : ownEntry(record.grants, id)
  if (before === undefined || !isWithin(before, grant)) return refused
  if (before.level === grant.level && before.confirm === grant.confirm)
    return { kind: 'noted', result: 'joined', target: task }
  return step(task, { type: 'grant.reduced', task, data: { id, before, after: grant } })
}

/** Unknown here, or with as much steering pending as the session's settings allow. */
function isFull(world: World, task: TaskId): boolean {
  const snapshot = world.tasks.get(task)
  return snapshot === undefined || snapshot.context.steering.length >= steeringBound(world)
}

export function steeringBound(world: World): number {
  const session = world.session?.context
  return session === undefined ? pendingSteering : limitOf(session, 'pendingSteeringPerTask', pendingSteering)
}

/** Pauses that are open in the session, of its tasks and of their calls. */
export function openPauses(world: World): number {
  let open = 0
  for (const { context } of world.tasks.values()) open += Object.keys(context.pauses).length
  return open
}

export function pausesBound(world: World): number {
  const session = world.session?.context
  return session === undefined ? openPausesMax : limitOf(session, 'openPausesPerSession', openPausesMax)
}

function takesNotes(session: SessionSnapshot): boolean {
  return session.matches({ lifecycle: 'open' }) && session.context.restoring === null
}

/** A session that nobody opened, or one that this very checkpoint is being restored to. */
function decideRestore(world: World, command: Extract<OperatorCommand, { name: 'restore' }>): Decided {
  const { from, opened, messages, rest } = command
  if (world.session !== null && world.session.context.restoring !== from) return refused
  const agenda: AgendaItem[] = world.session === null ? [{ type: 'session.opened', data: opened }] : []
  for (const data of messages) agenda.push({ type: 'message.added', data })
  if (rest !== null) agenda.push({ type: 'session.restored', data: rest.restored })
  for (const data of rest?.notes ?? []) agenda.push({ type: 'memory.put', data })
  return { kind: 'step', target: null, agenda }
}

export function memoryBound(world: World): number {
  const session = world.session?.context
  return session === undefined ? memoryNotesMax : limitOf(session, 'memoryItems', memoryNotesMax)
}

interface FoundPause {
  readonly task: TaskId
  readonly call: string | null
  readonly reason: PauseReason
}

export function pauseOf(world: World, token: string): FoundPause | null {
  for (const [task, snapshot] of world.tasks) {
    const pause = ownEntry(snapshot.context.pauses, token)
    if (pause !== undefined) return { task, call: pause.call, reason: pause.reason }
  }
  return null
}

export function isEnding(snapshot: TaskSnapshot): boolean {
  return snapshot.matches('cancelling') || snapshot.matches('quiescing')
}

function step(target: string | null, draft: AgendaItem): Decided {
  return { kind: 'step', target, agenda: [draft] }
}
