import { assign, setup } from 'xstate'
import type { Agenda } from './agenda.ts'
import type { Fact, FactOf } from './facts.ts'
import {
  initialTask,
  isSettled,
  mayRest,
  nothingLives,
  ownPause,
  pendingSteering,
  type TaskContext,
} from './task-context.ts'
import { foldTask } from './task-fold.ts'
import {
  admit,
  answer,
  asks,
  checkAwait,
  clearRequirement,
  conclude,
  conclusions,
  continueTurn,
  descendantFacts,
  failed,
  failWithModel,
  fold,
  foldAndConclude,
  foldAndRest,
  foldAndWithdraw,
  foldDescendant,
  foldDescendantAndConclude,
  foldUnknown,
  foldUnknownAndConclude,
  followDecision,
  interrupt,
  raiseBarrier,
  recover,
  rest,
  settle,
  settleUnknown,
} from './task-transitions.ts'
import { isPlannerTool, type TaskId } from './vocabulary.ts'

const agenda = (_: unknown, _params: Agenda) => {}

const chart = setup({
  types: { context: {} as TaskContext, events: {} as Fact, input: {} as FactOf<'task.created'> },
  actions: {
    fold: assign(({ context, event }) => foldTask(context, event)),
    clearRequirement: agenda,
    openTurn: agenda,
    continueTurn: agenda,
    recordAnswer: agenda,
    admitCalls: agenda,
    answerCalls: agenda,
    withdrawPause: agenda,
    quarantine: agenda,
    awaitAcknowledgement: agenda,
    checkAwait: agenda,
    restIfIdle: agenda,
    followDecision: agenda,
    interruptWork: agenda,
    failTask: agenda,
    raiseBarrier: agenda,
    concludeBarrier: agenda,
    recoverTask: agenda,
    sendRequest: (_, _intent: { task: TaskId }) => {},
    abortRequest: (_, _intent: { task: TaskId }) => {},
  },
  guards: {
    isOwn: ({ context, event }) => event.task === context.id,
    isDescendants: ({ context, event }) => event.task !== context.id,
    isConditional: ({ context }) => context.requires === 'success',
    /** Calls to perform: more than planner tools, which have their results in the step of the answer. */
    asksForWork: ({ event }) =>
      event.type === 'model.completed' && event.data.calls.some(({ name }) => !isPlannerTool(name)),
    asksForCalls: ({ event }) => event.type === 'model.completed' && event.data.calls.length > 0,
    isSummary: ({ context }) => context.request?.purpose === 'summary',
    willRetry: ({ event }) => event.type === 'model.failed' && event.data.retryAt !== undefined,
    hasRoom: ({ context }) => context.steering.length < pendingSteering,
    interrupts: ({ context, event }) =>
      event.type === 'steering.queued' && event.data.mode === 'interrupt' && context.steering.length < pendingSteering,
    /** With this fact every call of the batch has its outcome. */
    settlesBatch: ({ context, event }) =>
      Object.entries(context.calls).every(([call, entry]) => call === event.call || entry.phase === 'settled'),
    hasUnsettledCalls: ({ context }) => !isSettled(context),
    isBackingOff: ({ context }) => context.retryAt !== null && !context.interrupting,
    isAwaiting: ({ context }) => context.awaiting !== null,
    mayRest: ({ context }) => mayRest(context),
    /** The newest answer is final and no steering waits: exactly then a turn may complete. */
    mayComplete: ({ context, event }) => event.task === context.id && context.answered && context.steering.length === 0,
    mayFail: ({ context, event }) => event.task === context.id && nothingLives(context) && isSettled(context),
    isOwnPauseFree: ({ context, event }) => event.call !== null || ownPause(context) === null,
    isOpenPause: ({ context, event }) => event.type === 'pause.settled' && event.data.token in context.pauses,
    /** The terminal of a barrier: its own status, and nothing waited for any more. */
    concludes: ({ context, event }) =>
      event.task === context.id &&
      nothingLives(context) &&
      isSettled(context) &&
      event.type === `task.${context.barrier?.status}`,
  },
})

/** One unit of executable work, foreground turn or background job, from its creation to its one terminal outcome. */
export const taskMachine = chart.createMachine({
  id: 'task',
  context: ({ input }) => initialTask(input),
  initial: 'pending',
  states: {
    pending: {
      initial: 'queued',
      on: {
        'task.unblocked': { guard: 'isConditional', target: '.queued', actions: 'fold' },
        'task.input_replaced': {
          actions: ['fold', clearRequirement],
        },
        'task.cancelled': { guard: 'isOwn', target: 'terminal.cancelled', actions: 'fold' },
        'task.superseded': { guard: 'isOwn', target: 'terminal.superseded', actions: 'fold' },
      },
      states: {
        queued: {
          on: {
            'task.blocked': { guard: 'isConditional', target: 'blocked', actions: 'fold' },
            'task.started': {
              target: '#task.running',
              actions: ['fold', { type: 'openTurn', params: asks('openTurn') }],
            },
          },
        },
        blocked: {},
      },
    },
    running: {
      initial: 'boundary',
      on: {
        ...descendantFacts,
        'task.failed': [...failed],
        'task.cancelling': { guard: 'isOwn', target: 'cancelling', actions: 'fold' },
        'run.resumed': { actions: ['fold', recover] },
        'steering.queued': [
          { guard: 'interrupts', actions: ['fold', interrupt] },
          { guard: 'hasRoom', ...fold },
        ],
        'steering.inherited': fold,
        'pause.requested': { guard: 'isOwnPauseFree', ...foldAndRest },
        'pause.settled': { guard: 'isOpenPause', actions: ['fold', followDecision] },
        'task.progress': fold,
      },
      states: {
        boundary: {
          initial: 'ready',
          on: {
            'steering.applied': fold,
            'model.requested': { target: 'requesting', actions: 'fold' },
            'task.awaiting': { target: 'awaiting', actions: ['fold', checkAwait] },
            'task.completed': [
              foldDescendant,
              { guard: 'mayComplete', target: '#task.terminal.completed', actions: 'fold' },
            ],
            'task.paused': { guard: 'mayRest', target: '#task.paused', actions: 'fold' },
          },
          states: {
            ready: { entry: continueTurn },
            waiting: {
              on: {
                'steering.queued': [
                  { guard: 'interrupts', target: 'ready', actions: 'fold' },
                  { guard: 'hasRoom', ...fold },
                ],
              },
            },
          },
        },
        requesting: {
          entry: { type: 'sendRequest', params: ({ context }) => ({ task: context.id }) },
          exit: { type: 'abortRequest', params: ({ context }) => ({ task: context.id }) },
          on: {
            'model.completed': [
              { guard: 'isSummary', target: 'boundary', actions: 'fold' },
              {
                guard: 'asksForWork',
                target: 'acting',
                actions: ['fold', { type: 'recordAnswer', params: asks('recordAnswer', 'admitCalls', 'restIfIdle') }],
              },
              {
                guard: 'asksForCalls',
                target: 'boundary',
                actions: ['fold', { type: 'recordAnswer', params: asks('recordAnswer', 'answerCalls') }],
              },
              {
                target: 'boundary',
                actions: ['fold', { type: 'recordAnswer', params: asks('recordAnswer') }],
              },
            ],
            'model.failed': [
              { guard: 'isSummary', target: 'boundary', actions: 'fold' },
              { guard: 'willRetry', target: 'boundary.waiting', actions: ['fold', rest] },
              {
                target: 'boundary.waiting',
                actions: ['fold', failWithModel],
              },
            ],
            'model.abandoned': { target: 'boundary', actions: 'fold' },
          },
        },
        acting: {
          on: {
            'call.requested': fold,
            'call.held': foldAndRest,
            'call.started': fold,
            'call.aborting': fold,
            'call.verifying': fold,
            'call.verified': fold,
            'call.interrupted': { actions: ['fold', admit] },
            'call.refused': [...settle],
            'call.finished': [...settle],
            'call.cancelled': [...settle],
            'call.unknown': [...settleUnknown],
            'task.paused': { guard: 'mayRest', target: '#task.paused', actions: 'fold' },
          },
        },
        awaiting: {
          on: {
            'task.await_settled': { target: 'boundary', actions: ['fold', answer] },
            'task.paused': { guard: 'mayRest', target: '#task.paused', actions: 'fold' },
          },
        },
      },
    },
    paused: {
      on: {
        ...descendantFacts,
        'task.failed': [...failed],
        'task.cancelling': { guard: 'isOwn', target: 'cancelling', actions: 'fold' },
        'task.resumed': [
          { guard: 'isAwaiting', target: 'running.awaiting', actions: 'fold' },
          { guard: 'hasUnsettledCalls', target: 'running.acting', actions: ['fold', admit] },
          { guard: 'isBackingOff', target: 'running.boundary.waiting', actions: 'fold' },
          { target: 'running.boundary', actions: ['fold', answer] },
        ],
        'run.resumed': { actions: ['fold', recover] },
        'steering.queued': [
          { guard: 'interrupts', actions: ['fold', interrupt] },
          { guard: 'hasRoom', ...fold },
        ],
        'steering.inherited': fold,
        'pause.requested': { guard: 'isOwnPauseFree', ...fold },
        'pause.settled': { guard: 'isOpenPause', actions: ['fold', followDecision] },
        'task.await_settled': fold,
        'call.held': fold,
        'call.refused': fold,
        'call.cancelled': foldAndWithdraw,
        'call.unknown': foldUnknown,
      },
    },
    cancelling: {
      entry: raiseBarrier,
      on: {
        ...descendantFacts,
        'task.failed': foldDescendant,
        'model.abandoned': fold,
        'call.cancelled': foldAndWithdraw,
        'call.unknown': foldUnknown,
        'call.aborting': fold,
        'pause.settled': { guard: 'isOpenPause', ...fold },
        'task.await_settled': fold,
        'task.quiescing': { guard: 'isOwn', target: 'quiescing', actions: 'fold' },
      },
    },
    quiescing: {
      entry: conclude,
      on: {
        'task.completed': foldDescendantAndConclude,
        'task.failed': [...conclusions('failed')],
        'task.cancelled': [...conclusions('cancelled')],
        'task.superseded': [...conclusions('superseded')],
        'run.resumed': { actions: ['fold', recover] },
        'call.aborting': fold,
        'call.verifying': fold,
        'call.verified': fold,
        'call.finished': foldAndConclude,
        'call.cancelled': foldAndConclude,
        'call.unknown': foldUnknownAndConclude,
      },
    },
    terminal: {
      initial: 'completed',
      states: {
        completed: { type: 'final' },
        failed: { type: 'final' },
        cancelled: { type: 'final' },
        superseded: { type: 'final' },
      },
    },
  },
})
