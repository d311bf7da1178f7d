import { assign, setup } from 'xstate'
import type { Agenda } from './agenda.ts'
import type { Fact, FactOf } from './facts.ts'
import type { GroupId, TaskId } from './vocabulary.ts'

/** Background tasks that belong together: joined while it is open, resolved once when it is sealed and nothing of it lives. */
export interface GroupContext {
  readonly id: GroupId
  /** The first failure of a member cancels the others. */
  readonly failFast: boolean
  readonly members: readonly TaskId[]
  readonly living: { readonly [task: TaskId]: true }
  readonly seq: number
}

export function initialGroup(fact: FactOf<'group.created'>): GroupContext {
  return { id: fact.data.group, failFast: fact.data.failFast ?? false, members: [], living: {}, seq: fact.seq }
}

const ends: ReadonlySet<string> = new Set(['task.completed', 'task.failed', 'task.cancelled'])

export function foldGroup(context: GroupContext, fact: Fact): GroupContext {
  const task = fact.task ?? ''
  if (fact.type === 'task.created')
    return {
      ...context,
      members: [...context.members, task],
      living: { ...context.living, [task]: true },
      seq: fact.seq,
    }
  if (!ends.has(fact.type)) return { ...context, seq: fact.seq }
  const { [task]: _ended, ...living } = context.living
  return { ...context, living, seq: fact.seq }
}

const agenda = (_: unknown, _params: Agenda) => {}

const chart = setup({
  types: { context: {} as GroupContext, events: {} as Fact, input: {} as FactOf<'group.created'> },
  actions: {
    fold: assign(({ context, event }) => foldGroup(context, event)),
    resolve: agenda,
    cancelOthers: agenda,
    followAwaits: agenda,
  },
  guards: {
    failsFast: ({ context }) => context.failFast,
    isOver: ({ context }) => Object.keys(context.living).length === 0,
  },
})

type Here = { context: GroupContext }

const resolve = {
  type: 'resolve',
  params: ({ context }: Here): Agenda => ({ agenda: [{ ask: 'resolveGroup', group: context.id }] }),
} as const
const cancelOthers = {
  type: 'cancelOthers',
  params: ({ context }: Here): Agenda => ({ agenda: [{ ask: 'cancelMembers', group: context.id }] }),
} as const
const followAwaits = {
  type: 'followAwaits',
  params: (): Agenda => ({ agenda: [{ ask: 'followAwaits' }] }),
} as const

const fold = { actions: 'fold' } as const
const cancel = { target: 'cancelled', actions: ['fold', cancelOthers, followAwaits] } as const
const foldAndResolve = { actions: ['fold', resolve] } as const

export const groupMachine = chart.createMachine({
  id: 'group',
  context: ({ input }) => initialGroup(input),
  initial: 'open',
  states: {
    open: {
      on: {
        'task.created': fold,
        'task.completed': fold,
        'task.failed': [{ guard: 'failsFast', actions: ['fold', cancelOthers] }, fold],
        'task.cancelled': fold,
        'group.sealed': { target: 'sealed', actions: ['fold', resolve] },
        'group.cancelled': cancel,
      },
    },
    sealed: {
      on: {
        'task.completed': foldAndResolve,
        'task.failed': [{ guard: 'failsFast', actions: ['fold', cancelOthers, resolve] }, foldAndResolve],
        'task.cancelled': foldAndResolve,
        'group.resolved': { guard: 'isOver', target: 'resolved', actions: ['fold', followAwaits] },
        'group.cancelled': cancel,
      },
    },
    /** Its members still come to their ends. */
    cancelled: {
      on: {
        'task.completed': fold,
        'task.failed': fold,
        'task.cancelled': fold,
      },
    },
    resolved: { type: 'final' },
  },
})
