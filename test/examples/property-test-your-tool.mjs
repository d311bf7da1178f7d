// A property test of a tool of your own, inside the runtime that will run it. Run it: node property-test-your-tool.mjs
// It says "held" when whatever was tried kept the promise, and otherwise shows the smallest case that did not: see one with
// node property-test-your-tool.mjs 50 forgetful
import fc from 'fast-check'
import { defineTool, memoryLog, openRuntime, scriptedModel } from 'landfall'
import { verifyStore } from 'landfall/testing'
import { z } from 'zod'

const [, , runs = '50', fault] = process.argv

/** The tool under test takes from a stock; it may fail before it has taken anything, and an order counts once. */
function shop(stock, failsAt) {
  const orders = new Map()
  let tries = 0
  const tool = defineTool({
    name: 'shop.order',
    description: 'Orders some of one article.',
    input: z.object({ count: z.number().int().min(1) }),
    effect: 'mutate',
    run: ({ count }, { idempotencyKey }) => {
      tries += 1
      if (failsAt.includes(tries)) throw new Error('the till is stuck')
      if (count > stock) throw new Error('not so many left')
      if (fault === 'forgetful' && count > 2) return { ordered: count }
      if (!orders.has(idempotencyKey)) orders.set(idempotencyKey, count)
      return { ordered: count }
    },
  })
  const ordered = () => [...orders.values()].reduce((sum, count) => sum + count, 0)
  return { tool, ordered }
}

/** One turn that orders these counts one after the other; what the log says afterwards, and what the shop says. */
async function turnOf(counts, { stock, failsAt, cancelAfter }) {
  const { tool, ordered } = shop(stock, failsAt)
  const steps = counts.map((count) => ({ text: '', calls: [{ name: 'shop.order', arguments: { count } }] }))
  const log = memoryLog()
  const model = scriptedModel({ turns: [[...steps, { text: 'Done.' }]] })
  const runtime = await openRuntime({ log, model, catalog: [tool], limits: { graceMs: 20 } })
  const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
  const turn = await session.start('Order.')
  // At some point of its life the turn is cancelled, or not at all.
  let finished = 0
  const watching = runtime.events(session.scope, { types: ['call.finished'] }).subscribe((event) => {
    if (event.type !== 'call.finished') return
    finished += 1
    if (finished === cancelAfter) void session.cancel({ task: turn.id }).catch(() => {})
  })
  const outcome = await turn.outcome()
  watching.unsubscribe()
  const succeeded = (await session.calls()).filter((call) => call.outcome === 'succeeded').length
  await runtime.close()
  const verdicts = []
  for await (const verdict of verifyStore(log)) verdicts.push(verdict)
  return { outcome, succeeded, ordered: ordered(), violations: verdicts.flatMap(({ violations }) => violations) }
}

const situation = fc.record({
  stock: fc.integer({ min: 1, max: 4 }),
  failsAt: fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
  cancelAfter: fc.integer({ min: 0, max: 4 }),
})

const promise = fc.asyncProperty(
  fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
  situation,
  async (counts, given) => {
    const { outcome, succeeded, ordered, violations } = await turnOf(counts, given)
    // Whatever happened, the log keeps its invariants …
    if (violations.length > 0) throw new Error(JSON.stringify(violations))
    // … the turn ended once …
    if (!['completed', 'failed', 'cancelled'].includes(outcome.status)) throw new Error(outcome.status)
    // … and the log and the shop agree on what was ordered.
    if (outcome.calls.succeededMutating !== succeeded) throw new Error('the outcome counts other calls than the log')
    if (ordered < succeeded) throw new Error(`the log tells ${succeeded} orders, the shop had less`)
  },
)

await fc.assert(promise, { numRuns: Number(runs), seed: 7 })
console.log('held')
