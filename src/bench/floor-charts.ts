import { assign, type SnapshotFrom, setup } from 'xstate'
import type { FloorEvent } from './floor-rows.ts'
import { inertScope } from './inert-scope.ts'

/** A session that counts its turns and lets one run at a time: the smallest chart that has something to refuse. */
const sessionChart = setup({
  types: { context: {} as { turns: number }, events: {} as FloorEvent },
}).createMachine({
  id: 'floor-session',
  context: { turns: 0 },
  initial: 'idle',
  states: {
    idle: { on: { 'turn.created': 'busy' } },
    busy: {
      on: {
        'turn.completed': { target: 'idle', actions: assign({ turns: ({ context }) => context.turns + 1 }) },
      },
    },
  },
})

interface TurnContext {
  readonly step: number
  readonly tokens: number
  readonly pending: number
  readonly started: number
}

const turnSetup = setup({
  types: { context: {} as TurnContext, events: {} as FloorEvent },
  actions: { askModel: () => {}, runTool: () => {} },
  guards: { asksForCalls: ({ event }) => event.type === 'model.answered' && event.calls > 0 },
})

/** A turn: asking and calling in rotation until an answer asks for nothing more. */
const turnChart = turnSetup.createMachine({
  id: 'floor-turn',
  context: { step: 0, tokens: 0, pending: 0, started: 0 },
  initial: 'waiting',
  states: {
    waiting: { on: { 'turn.created': 'ready' } },
    ready: {
      on: {
        'model.requested': {
          target: 'asking',
          actions: [assign({ step: ({ event }) => event.step }), 'askModel'],
        },
      },
    },
    asking: {
      on: {
        'model.answered': [
          {
            guard: 'asksForCalls',
            target: 'calling',
            actions: assign({
              tokens: ({ context, event }) => context.tokens + event.tokens,
              pending: ({ event }) => event.calls,
            }),
          },
          {
            target: 'answered',
            actions: assign({ tokens: ({ context, event }) => context.tokens + event.tokens }),
          },
        ],
      },
    },
    calling: {
      on: {
        'call.started': { actions: [assign({ started: ({ context }) => context.started + 1 }), 'runTool'] },
        'call.finished': {
          target: 'ready',
          guard: ({ context }) => context.pending === 1,
          actions: assign({ pending: 0 }),
        },
      },
    },
    answered: { on: { 'turn.completed': 'completed' } },
    completed: { type: 'final' },
  },
})

const callChart = setup({ types: { events: {} as FloorEvent } }).createMachine({
  id: 'floor-call',
  initial: 'requested',
  states: {
    requested: { on: { 'call.started': 'started' } },
    started: { on: { 'call.finished': 'finished' } },
    finished: { type: 'final' },
  },
})

const sessionScope = inertScope(sessionChart)
const turnScope = inertScope(turnChart)
const callScope = inertScope(callChart)
const freshTurn = turnChart.getInitialSnapshot(turnScope)
const freshCall = callChart.getInitialSnapshot(callScope)

/** Transitions that a turn of the floor costs: 2 of its session, 8 of the turn, 2 of its call. */
export const transitionsATurn = 12

/**
 * Folds the events of one session through the three charts, and refuses what they refuse. A chart that returns the very
 * same snapshot has refused: here every accepted event changes a state or a context, which is not so of charts at large
 * (a transition with nothing but named actions returns the same snapshot too).
 */
export class FloorFold {
  #session: SnapshotFrom<typeof sessionChart> = sessionChart.getInitialSnapshot(sessionScope)
  #turn: SnapshotFrom<typeof turnChart> = freshTurn
  #call: SnapshotFrom<typeof callChart> = freshCall

  offer(event: FloorEvent): void {
    if (event.type === 'turn.created') this.#turn = freshTurn
    if (event.type === 'turn.created' || event.type === 'turn.completed') this.#offerSession(event)
    const turn = turnChart.transition(this.#turn, event, turnScope)
    if (turn === this.#turn) throw new Error(`the turn refused ${event.type}`)
    this.#turn = turn
    if (event.type === 'call.started' || event.type === 'call.finished') this.#offerCall(event)
  }

  get turns(): number {
    return this.#session.context.turns
  }

  #offerSession(event: FloorEvent): void {
    const next = sessionChart.transition(this.#session, event, sessionScope)
    if (next === this.#session) throw new Error(`the session refused ${event.type}`)
    this.#session = next
  }

  #offerCall(event: FloorEvent): void {
    if (event.type === 'call.started') this.#call = freshCall
    const next = callChart.transition(this.#call, event, callScope)
    if (next === this.#call) throw new Error(`the call refused ${event.type}`)
    this.#call = next
  }
}
