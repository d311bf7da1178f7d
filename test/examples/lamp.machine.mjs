// A chart of your own, to draw and to try out:
//   npx landfall machines ./lamp.machine.mjs --format svg > lamp.svg
//   npx landfall machines ./lamp.machine.mjs --open
import { assign, setup } from 'xstate'

const chart = setup({
  actions: {
    ring: () => {},
    count: assign({ presses: ({ context }) => context.presses + 1 }),
  },
  guards: {
    isDark: ({ event }) => (event.lux ?? 0) < 10,
    isWorn: ({ context }) => context.presses >= 3,
  },
})

export const lamp = chart.createMachine({
  id: 'lamp',
  description: 'Lights when it is dark, for a minute, three times.',
  context: { presses: 0 },
  initial: 'off',
  states: {
    off: {
      always: { guard: 'isWorn', target: 'broken' },
      on: { PRESS: [{ guard: 'isDark', target: 'on', actions: 'count' }, { actions: 'ring' }] },
    },
    on: { after: { 60000: 'off' }, on: { PRESS: 'off' } },
    broken: { type: 'final' },
  },
})
