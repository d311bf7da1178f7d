// An application that is an XState chart, with a durable task inside it. Run it: node embed-in-an-xstate-app.mjs
import { defineTool, openRuntime, scriptedModel } from 'landfall'
import { sqliteLog } from 'landfall/sqlite'
import { taskLogic } from 'landfall/xstate'
import { assign, createActor, sendTo, setup, toPromise, waitFor } from 'xstate'
import { z } from 'zod'

const kitchen = Promise.withResolvers?.() ?? withResolvers()

const brew = defineTool({
  name: 'kitchen.brew',
  description: 'Brews one pot.',
  input: z.object({ what: z.string() }),
  effect: 'mutate',
  run: async ({ what }) => {
    await kitchen.promise
    return `a pot of ${what}`
  },
})

const model = scriptedModel({
  everyTurn: [
    { text: 'Brewing.', calls: [{ name: 'kitchen.brew', arguments: { what: 'tea' } }] },
    { text: 'Here is {{last}}. You also said: {{steering}}' },
  ],
})
const runtime = await openRuntime({ log: sqliteLog(process.argv[2] ?? 'app.db'), model, catalog: [brew] })
const scope = { tenant: 'cafe', user: 'ada', session: 'table-4' }

// The chart of the application. It knows nothing of models and logs: it invokes a task, and hears how it ended.
const table = setup({
  actors: { serve: taskLogic(runtime, { onStop: 'cancel' }) },
}).createMachine({
  id: 'table',
  context: { bill: null },
  initial: 'waiting',
  states: {
    waiting: {
      invoke: {
        id: 'serve',
        src: 'serve',
        input: { scope, input: 'Tea for two, please.' },
        onDone: { target: 'served', actions: assign({ bill: ({ event }) => event.output.message }) },
        onError: 'turnedAway',
      },
      on: {
        SAY: { actions: sendTo('serve', ({ event }) => ({ type: 'steer', input: event.text })) },
        LEAVE: 'gone',
      },
    },
    served: { type: 'final' },
    turnedAway: { type: 'final' },
    gone: { type: 'final' },
  },
})

const guests = createActor(table).start()

// What the session does can be watched like any other actor: it shows what is committed, and nothing else.
const { actor } = runtime.session(scope)
const busy = await waitFor(actor, (view) => Object.keys(view.children).length > 0)
const [task] = Object.values(busy.children)
await waitFor(task, (view) => view.matches({ running: 'acting' }))
guests.send({ type: 'SAY', text: 'with milk' })
await waitFor(task, (view) => view.context.steering.length === 1)

kitchen.resolve()
await toPromise(guests)
console.log(guests.getSnapshot().context.bill)
await runtime.close()

function withResolvers() {
  const made = {}
  made.promise = new Promise((resolve) => {
    made.resolve = resolve
  })
  return made
}
