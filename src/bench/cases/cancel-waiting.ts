import { join } from 'node:path'
import { setImmediate as nextTurnOfLoop } from 'node:timers/promises'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { sized } from '../environment.ts'
import { FloorStore } from '../floor.ts'
import { floorRow } from '../floor-rows.ts'
import { elapsedMs, interleave } from '../measure.ts'
import type { Runtime } from '../product.ts'
import { sampledRow } from '../result.ts'
import { openRuntime, scopeOf, userMessage, waitingScript } from '../workload.ts'

/** From the command to the outcome, which is told only when the terminal fact is durable. */
async function cancelOne(runtime: Runtime, session: number): Promise<number> {
  const handle = runtime.session(scopeOf(session))
  const task = await handle.start(userMessage(1))
  await nextTurnOfLoop()
  const ms = await elapsedMs(async () => {
    await handle.cancel({ task: task.id })
    const outcome = await task.outcome()
    if (outcome.status !== 'cancelled') throw new Error(`the waiting turn ended ${outcome.status}`)
  })
  return ms
}

export const cancelWaiting: BenchCase = {
  name: 'cancel-waiting',
  run: async (env) => {
    const product = productOf(env)
    const rounds = sized(env, { quick: 20, normal: 300 })
    const store = new FloorStore(join(env.directory(), 'floor.db'))
    const runtime = product && (await openRuntime(product, env.directory(), waitingScript))
    const row = floorRow({ type: 'turn.completed', turn: 1, steps: 1 }, 0, 1)
    let session = 0
    const samples = await interleave<'product' | 'floor'>(
      { rounds, warmUp: 10 },
      {
        product: runtime && (() => cancelOne(runtime, session++)),
        floor: () => elapsedMs(() => store.commit([{ session: 0, firstSeq: 1, rows: [row] }])),
      },
    )
    await runtime?.close()
    store.close()
    return resultOf(env, {
      name: 'cancel-waiting',
      conditions: `a turn that waits for its model, ${rounds} times, each in a session of its own, beside a one-row commit`,
      rows: [
        sampledRow(
          { what: 'cancel to durable terminal', unit: 'ms', goal: 'ratio ≤ 3' },
          samples.product,
          samples.floor,
        ),
      ],
    })
  },
}
