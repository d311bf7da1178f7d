import { assign, setup } from 'xstate'
import type { Fact, FactOf } from './facts.ts'
import type { CallId, Effect, HoldReason, PauseToken, TaskId } from './vocabulary.ts'

/** One invocation of a tool, from the answer that asked for it to its one outcome. */
export interface CallContext {
  readonly id: CallId
  readonly task: TaskId
  readonly name: string
  /** `null`: the name is unknown; the call can only be refused. */
  readonly effect: Effect | null
  readonly attempts: number
  readonly hold: HoldReason | null
  readonly token: PauseToken | null
  /** Why the attempt under way was told to stop. */
  readonly aborted: 'cancel' | 'deadline' | null
  /** seq of the newest fact. Every accepted fact changes the context, which is how a fold tells acceptance from refusal. */
  readonly seq: number
}

export function initialCall(fact: FactOf<'call.requested'>): CallContext {
  return {
    id: fact.call ?? '',
    task: fact.task ?? '',
    name: fact.data.name,
    effect: fact.data.effect ?? null,
    attempts: 0,
    hold: null,
    token: null,
    aborted: null,
    seq: fact.seq,
  }
}

export function foldCall(context: CallContext, fact: Fact): CallContext {
  switch (fact.type) {
    case 'call.held':
      return { ...context, hold: fact.data.reason, token: fact.data.token ?? null, seq: fact.seq }
    case 'call.started':
      return { ...context, hold: null, token: null, aborted: null, attempts: fact.data.attempt, seq: fact.seq }
    case 'call.aborting':
      return { ...context, aborted: fact.data.reason, seq: fact.seq }
    default:
      return { ...context, seq: fact.seq }
  }
}

const chart = setup({
  types: {
    context: {} as CallContext,
    events: {} as Fact,
    input: {} as FactOf<'call.requested'>,
  },
  actions: {
    fold: assign(({ context, event }) => foldCall(context, event)),
    performCall: (_, _intent: { task: TaskId; call: CallId; attempt: number }) => {},
    abortCall: (_, _intent: { task: TaskId; call: CallId; reason: 'cancel' | 'deadline' }) => {},
    verifyCall: (_, _intent: { task: TaskId; call: CallId }) => {},
  },
  guards: {
    /** Attempts count 1, 2, 3 …: a start that skips or repeats one is not this call's. */
    isNextAttempt: ({ context, event }) =>
      event.type === 'call.started' && context.effect !== null && event.data.attempt === context.attempts + 1,
    /** Only what may be repeated goes back to `requested`. */
    mayRepeat: ({ context }) => context.effect === 'read' || context.effect === 'idempotent',
    /** An idempotent call whose attempt was lost in a crash may have happened. */
    mayHaveHappened: ({ context }) => context.effect === 'idempotent' && context.attempts > 0,
    succeeded: ({ event }) => event.type === 'call.finished' && event.data.outcome === 'succeeded',
    failed: ({ event }) => event.type === 'call.finished' && event.data.outcome === 'failed',
  },
})

const start = {
  guard: 'isNextAttempt',
  target: 'started',
  actions: [
    'fold',
    {
      type: 'performCall',
      params: ({ context }: { context: CallContext }) => ({
        task: context.task,
        call: context.id,
        attempt: context.attempts,
      }),
    },
  ],
} as const

const verify = {
  target: 'verifying',
  actions: [
    'fold',
    {
      type: 'verifyCall',
      params: ({ context }: { context: CallContext }) => ({ task: context.task, call: context.id }),
    },
  ],
} as const

const hold = { target: 'held', actions: 'fold' } as const
const refuse = { target: 'refused', actions: 'fold' } as const
const cancel = { target: 'cancelled', actions: 'fold' } as const
const lose = { target: 'unknown', actions: 'fold' } as const
const loseInterrupted = { guard: 'mayHaveHappened', target: 'unknown', actions: 'fold' } as const
const finish = [
  { guard: 'succeeded', target: 'succeeded', actions: 'fold' },
  { guard: 'failed', target: 'failed', actions: 'fold' },
] as const

export const callMachine = chart.createMachine({
  id: 'call',
  context: ({ input }) => initialCall(input),
  initial: 'requested',
  states: {
    requested: {
      on: {
        'call.refused': refuse,
        'call.held': hold,
        'call.started': start,
        'call.cancelled': cancel,
        'call.unknown': loseInterrupted,
      },
    },
    held: {
      on: {
        'call.held': hold,
        'call.started': start,
        'call.refused': refuse,
        'call.cancelled': cancel,
        'call.unknown': loseInterrupted,
      },
    },
    started: {
      on: {
        'call.held': hold,
        'call.finished': finish,
        'call.cancelled': cancel,
        'call.unknown': lose,
        'call.interrupted': { guard: 'mayRepeat', target: 'requested', actions: 'fold' },
        'call.aborting': {
          target: 'aborting',
          actions: [
            'fold',
            {
              type: 'abortCall',
              params: ({ context, event }) => ({
                task: context.task,
                call: context.id,
                reason: event.data.reason,
              }),
            },
          ],
        },
        'call.verifying': verify,
      },
    },
    aborting: {
      on: {
        'call.finished': finish,
        'call.cancelled': cancel,
        'call.unknown': lose,
        'call.verifying': verify,
      },
    },
    verifying: {
      on: {
        'call.verified': { actions: 'fold' },
        'call.finished': finish,
        'call.cancelled': cancel,
        'call.unknown': lose,
      },
    },
    unknown: { on: { 'call.late': { actions: 'fold' } } },
    refused: { type: 'final' },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
})
