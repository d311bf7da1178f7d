import { assign, setup } from 'xstate'
import type { Agenda, AgendaItem } from './agenda.ts'
import type { Fact, FactOf } from './facts.ts'
import {
  endedStatus,
  endOf,
  initialSession,
  isForeground,
  limitOf,
  pendingTasks,
  queuedPerSession,
  type SessionContext,
  startedTasks,
} from './session-context.ts'
import { foldSession } from './session-fold.ts'
import { spawnProblem } from './spawning.ts'

type Here = { context: SessionContext; event: Fact }

const agenda = (_: unknown, _params: Agenda) => {}

function isOrigin(event: Fact, origin: FactOf<'task.created'>['data']['origin']): boolean {
  return event.type === 'task.created' && event.data.origin === origin
}

/** A half restored session takes no work. */
function isNew({ context, event }: Here): boolean {
  return context.restoring === null && event.task !== null && !(event.task in context.tasks)
}

const chart = setup({
  types: { context: {} as SessionContext, events: {} as Fact, input: {} as FactOf<'session.opened'> },
  actions: {
    fold: assign(({ context, event }) => foldSession(context, event)),
    startTask: agenda,
    startNext: agenda,
    placeFollowUp: agenda,
    placeReplacement: agenda,
    inheritSteering: agenda,
    followEnd: agenda,
    closeDown: agenda,
    recheckHolds: agenda,
  },
  guards: {
    isStart: ({ context, event }) =>
      isOrigin(event, 'start') && isNew({ context, event }) && context.active === null && context.slot === null,
    isFollowUp: ({ context, event }) =>
      isOrigin(event, 'follow_up') &&
      isNew({ context, event }) &&
      context.queue.length < limitOf(context, 'queuedPerSession', queuedPerSession),
    isSupersede: ({ context, event }) => isOrigin(event, 'supersede') && isNew({ context, event }),
    isSpawn: ({ context, event }) =>
      event.type === 'task.created' &&
      event.data.origin === 'spawn' &&
      isNew({ context, event }) &&
      spawnProblem(context, event.data.parent ?? null) === null,
    isNextTurn: ({ context, event }) =>
      isForeground(context, event.task) && context.active === null && context.closing === null,
    isBackground: ({ context, event }) => event.task !== null && context.tasks[event.task]?.kind === 'background',
    isBackgroundStart: ({ context, event }) =>
      event.task !== null && context.tasks[event.task]?.kind === 'background' && context.closing === null,
    isActive: ({ context, event }) => event.task !== null && event.task === context.active,
    isOther: ({ context, event }) =>
      event.task !== null && event.task in context.tasks && event.task !== context.active,
    isLiving: ({ context, event }) => event.task !== null && event.task in context.tasks,
    isQueued: ({ context, event }) => context.queue.some((entry) => entry.task === event.task),
    isQueuedOrSlot: ({ context, event }) =>
      event.task !== null && context.tasks[event.task]?.phase === 'pending' && isForeground(context, event.task),
    isHeadBlocked: ({ context }) => context.queue[0]?.blocked === true,
    isHeadClear: ({ context }) => context.queue[0]?.blocked !== true,
    isErase: ({ event }) => event.type === 'session.closing' && event.data.then === 'erase',
    isUpgrade: ({ context, event }) =>
      event.type === 'session.closing' && event.data.then === 'erase' && context.closing === 'close',
    mayClose: ({ context }) => context.closing === 'close' && startedTasks(context).length === 0,
    mayErase: ({ context }) => context.closing === 'erase' && Object.keys(context.tasks).length === 0,
    isNewEpoch: ({ context, event }) => event.type === 'session.owned' && event.data.epoch > context.epoch,
    isUntouched: ({ context, event }) =>
      event.type === 'session.restored' &&
      context.restoredFrom === null &&
      (context.restoring === null || context.restoring === event.data.from) &&
      context.turns === 0 &&
      Object.keys(context.tasks).length === 0 &&
      context.quarantine.length === 0,
    isWhole: ({ context }) => context.restoring === null,
    /** A restored session may bring its quarantine with it. */
    holdsQuarantine: ({ context }) => context.quarantine.length > 0,
    isQuarantined: ({ context, event }) =>
      event.type === 'mutation.acknowledged' &&
      event.data.calls.length > 0 &&
      event.data.calls.every((call) => context.quarantine.includes(call)),
    endsQuarantine: ({ context, event }) =>
      event.type === 'mutation.acknowledged' &&
      event.data.calls.every((call) => context.quarantine.includes(call)) &&
      context.quarantine.every((call) => event.data.calls.includes(call)),
  },
})

const startNext = { type: 'startNext', params: (): Agenda => ({ agenda: [{ ask: 'startNext' }] }) } as const

const startTask = {
  type: 'startTask',
  params: ({ event }: Here): Agenda => ({ agenda: [{ ask: 'startTask', task: event.task ?? '' }] }),
} as const

/** A follow-up whose predecessor has already ended badly is blocked where it stands. */
const placeFollowUp = {
  type: 'placeFollowUp',
  params: ({ context, event }: Here): Agenda => {
    const task = event.task ?? ''
    const entry = context.queue.find((queued) => queued.task === task)
    const status = endOf(context, entry?.predecessor ?? null)
    if (entry?.requires !== 'success' || status === null || status === 'completed')
      return { agenda: [{ ask: 'startNext' }] }
    return { agenda: [{ type: 'task.blocked', task, data: { predecessor: entry.predecessor ?? '', status } }] }
  },
} as const

/** One slot: an older replacement that has not started ends as superseded; the active task, unless it is ending, is cancelled. */
const placeReplacement = {
  type: 'placeReplacement',
  params: ({ context, event }: Here): Agenda => {
    const task = event.task ?? ''
    const older = pendingTasks(context).find((pending) => pending !== task && !isInQueue(context, pending))
    const items: AgendaItem[] = []
    if (older !== undefined) items.push({ ask: 'endTask', task: older, status: 'superseded', replacement: task })
    if (context.active === null) items.push({ ask: 'startNext' })
    else if (context.tasks[context.active]?.phase === 'started')
      items.push({
        ask: 'cancelTask',
        task: context.active,
        status: 'superseded',
        reason: 'superseded',
        replacement: task,
      })
    return { agenda: items }
  },
} as const

function isInQueue(context: SessionContext, task: string): boolean {
  return context.tasks[task]?.kind === 'background' || context.queue.some((entry) => entry.task === task)
}

const inheritSteering = {
  type: 'inheritSteering',
  params: ({ context, event }: Here): Agenda => ({
    agenda: context.orphans.map((orphan) => ({
      type: 'steering.inherited',
      task: event.task,
      data: { messages: orphan.messages, from: orphan.from },
    })),
  }),
} as const

/** What an end leads to: its steering's fate, blocked dependants, the next turn or the end of a close. */
const followEnd = {
  type: 'followEnd',
  params: ({ context, event }: Here): Agenda => {
    const status = endedStatus(event)
    const items: AgendaItem[] = []
    const left = context.orphans.find((orphan) => orphan.from === event.task)
    if (left !== undefined && context.ended?.expire === true)
      items.push({
        type: 'steering.expired',
        task: event.task,
        data: { messages: left.messages, reason: `task ${status}` },
      })
    if (status !== null && status !== 'completed')
      for (const entry of context.queue)
        if (entry.requires === 'success' && entry.predecessor === event.task && !entry.blocked)
          items.push({ type: 'task.blocked', task: entry.task, data: { predecessor: event.task ?? '', status } })
    if (Object.keys(context.tasks).length > 0) items.push({ ask: 'followAwaits' })
    items.push(context.closing === null ? { ask: 'startNext' } : { ask: 'closeIfIdle' })
    return { agenda: items }
  },
} as const

const closeDown = {
  type: 'closeDown',
  params: ({ context }: Here): Agenda => {
    const items: AgendaItem[] = context.orphans.map((orphan) => ({
      type: 'steering.expired',
      task: orphan.from,
      data: { messages: orphan.messages, reason: 'session closing' },
    }))
    for (const task of startedTasks(context))
      if (context.tasks[task]?.phase === 'started')
        items.push({ ask: 'cancelTask', task, status: 'cancelled', reason: 'session closing' })
    if (context.closing === 'erase')
      for (const task of pendingTasks(context))
        items.push({ ask: 'endTask', task, status: 'cancelled', reason: 'session erased' })
    items.push({ ask: 'closeIfIdle' })
    return { agenda: items }
  },
} as const

const recheckHolds = { type: 'recheckHolds', params: (): Agenda => ({ agenda: [{ ask: 'recheckHolds' }] }) } as const

const fold = { actions: 'fold' } as const
const endActive = { guard: 'isActive', target: 'idle', actions: ['fold', followEnd] } as const
const endOther = { guard: 'isOther', actions: ['fold', followEnd] } as const

/** A long-lived conversation: its life, its one foreground turn, its queue and its quarantine. */
export const sessionMachine = chart.createMachine({
  id: 'session',
  type: 'parallel',
  context: ({ input }) => initialSession(input),
  on: {
    'session.owned': { guard: 'isNewEpoch', ...fold },
    'settings.changed': fold,
    'task.blocked': { guard: 'isQueued', ...fold },
    'task.started': { guard: 'isBackgroundStart', ...fold },
    'task.cancelling': { guard: 'isLiving', ...fold },
    'task.completed': { ...endOther, guard: 'isBackground' },
    'task.failed': endOther,
    'task.cancelled': endOther,
    'task.superseded': endOther,
    'steering.inherited': fold,
    'steering.expired': fold,
  },
  states: {
    lifecycle: {
      initial: 'open',
      states: {
        open: {
          on: {
            'session.restored': { guard: 'isUntouched', ...fold },
            'task.created': [
              { guard: 'isStart', actions: ['fold', startTask] },
              { guard: 'isFollowUp', actions: ['fold', placeFollowUp] },
              { guard: 'isSupersede', actions: ['fold', placeReplacement] },
              { guard: 'isSpawn', actions: ['fold', startTask] },
            ],
            'task.unblocked': { guard: 'isQueuedOrSlot', actions: ['fold', startNext] },
            'session.closing': { guard: 'isWhole', target: 'closing', actions: ['fold', closeDown] },
          },
        },
        closing: {
          on: {
            'session.closing': { guard: 'isUpgrade', actions: ['fold', closeDown] },
            'session.closed': { guard: 'mayClose', target: 'closed', ...fold },
            'session.erased': { guard: 'mayErase', target: 'erased', ...fold },
          },
        },
        closed: {
          on: {
            'session.reopened': { target: 'open', actions: ['fold', startNext] },
            'session.closing': { guard: 'isErase', target: 'closing', actions: ['fold', closeDown] },
          },
        },
        erased: { type: 'final' },
      },
    },
    foreground: {
      initial: 'idle',
      states: {
        idle: { on: { 'task.started': { guard: 'isNextTurn', target: 'active', actions: ['fold', inheritSteering] } } },
        active: {
          on: {
            'task.cancelling': { guard: 'isActive', target: 'draining', ...fold },
            'task.completed': endActive,
            'task.failed': endActive,
          },
        },
        /** A barrier never ends as completed, and only a barrier ends as cancelled or superseded. */
        draining: {
          on: { 'task.failed': endActive, 'task.cancelled': endActive, 'task.superseded': endActive },
        },
      },
    },
    queue: {
      initial: 'clear',
      states: {
        clear: { always: { guard: 'isHeadBlocked', target: 'blocked' } },
        blocked: { always: { guard: 'isHeadClear', target: 'clear' } },
      },
    },
    mutations: {
      initial: 'free',
      states: {
        free: {
          always: { guard: 'holdsQuarantine', target: 'quarantined' },
          on: { 'mutation.quarantined': { target: 'quarantined', ...fold } },
        },
        quarantined: {
          on: {
            'mutation.quarantined': fold,
            'mutation.acknowledged': [
              { guard: 'endsQuarantine', target: 'free', actions: ['fold', recheckHolds] },
              { guard: 'isQuarantined', ...fold },
            ],
          },
        },
      },
    },
  },
})
