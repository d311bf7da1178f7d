import { type BenchCase, productOf, resultOf } from '../case.ts'
import { sized } from '../environment.ts'
import { FloorFold } from '../floor-charts.ts'
import { floorTurn } from '../floor-rows.ts'
import { heldBytes } from '../garbage.ts'
import type { Product } from '../product.ts'
import { figureRow } from '../result.ts'
import { fillSessions, openRuntime } from '../workload.ts'

/** The runtime and its first session are there before the count begins: what many sessions add is asked, not what one starts. */
async function productBytes(product: Product, directory: string, count: number): Promise<number> {
  const runtime = await openRuntime(product, directory)
  await fillSessions(runtime, 1, 1)
  const before = await heldBytes()
  await fillSessions(runtime, count, 1)
  const after = await heldBytes()
  await runtime.close()
  return after - before
}

/** The same number of folded sessions, held as bare chart snapshots. */
async function floorBytes(count: number): Promise<number> {
  const before = await heldBytes()
  const folds = Array.from({ length: count }, () => {
    const fold = new FloorFold()
    for (const event of floorTurn(1).flat()) fold.offer(event)
    return fold
  })
  const after = await heldBytes()
  if (folds.some((fold) => fold.turns !== 1)) throw new Error('a session of the floor lost its turn')
  return after - before
}

export const idleHeap: BenchCase = {
  name: 'idle-heap',
  run: async (env) => {
    const product = productOf(env)
    const count = sized(env, { quick: 500, normal: 10_000 })
    const floor = await floorBytes(count)
    const measured = product && (await productBytes(product, env.directory(), count))
    const megabytes = (bytes: number): number => bytes / 1e6
    return resultOf(env, {
      name: 'idle-heap',
      conditions: `${count} sessions after one turn each, heap and external after collection, over a runtime with one session; floor: bare chart snapshots`,
      rows: [
        figureRow(
          { what: `${count} idle sessions`, unit: 'MB', goal: 'product ≤ 20 for 10,000' },
          measured && megabytes(measured),
          megabytes(floor),
        ),
      ],
    })
  },
}
