import { fromPromise, setup } from 'xstate'

/** A chart as a user may have it: timers, an invoked promise, history, regions, a wildcard, and names that need care. */
export const doorMachine = setup({
  types: { context: {} as { opened: number }, events: {} as { type: string; by?: string } },
  actors: { load: fromPromise(async () => 1) },
  guards: { isKnown: ({ event }) => event.by === 'ada' },
  actions: { ring: () => {} },
}).createMachine({
  id: 'door',
  description: 'A <door> & more',
  context: { opened: 0 },
  initial: 'out',
  on: { RESET: '.out', 'PING.*': { actions: 'ring' } },
  states: {
    out: {
      tags: ['quiet'],
      after: { 500: 'in', patience: { guard: 'isKnown', target: 'in' } },
      invoke: { src: 'load', id: 'loading', onDone: { target: 'in', actions: 'ring' }, onError: 'dead' },
      on: { BACK: 'in.hall.before', KNOCK: { guard: 'isKnown', target: 'in' } },
    },
    in: {
      initial: 'hall',
      onDone: 'dead',
      states: {
        hall: {
          initial: 'standing',
          states: {
            standing: {
              on: { UP: '#door.in', TURN: { target: 'standing', reenter: true }, SIT: { target: 'seated' } },
            },
            seated: { always: { guard: 'isKnown', target: '#door.out' } },
            before: { type: 'history', history: 'deep', target: 'standing' },
          },
        },
        rooms: { type: 'parallel', states: { left: { initial: 'lit', states: { lit: {} } }, right: {} } },
        gone: { type: 'final' },
      },
    },
    dead: { type: 'final' },
  },
})
