import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { sized } from '../environment.ts'
import { FloorStore, preparedTurn, writeTurn } from '../floor.ts'
import type { Product } from '../product.ts'
import { figureRow } from '../result.ts'
import { openRuntime, runTurns, scopeOf } from '../workload.ts'

/** Everything in the directory, write-ahead logs included: what a user's disk holds after a clean close. */
function directoryBytes(directory: string): number {
  return readdirSync(directory).reduce((total, name) => total + statSync(join(directory, name)).size, 0)
}

type Grow = (directory: string, first: number, last: number) => Promise<void>

async function growFloor(directory: string, first: number, last: number): Promise<void> {
  const store = new FloorStore(join(directory, 'floor.db'))
  for (let turn = first; turn <= last; turn += 1) writeTurn(store, preparedTurn(0, turn))
  store.close()
}

function growProduct(product: Product): Grow {
  return async (directory, first, last) => {
    const runtime = await openRuntime(product, directory)
    await runTurns(runtime.session(scopeOf(0)), first, last)
    await runtime.close()
  }
}

/** Bytes a turn of an early and of a late stretch of equal length; the store is closed between, so sizes are settled. */
async function slopes(directory: string, last: number, grow: Grow): Promise<{ early: number; late: number }> {
  const stretch = last / 4
  const sizes: number[] = []
  let from = 1
  for (const to of [stretch, 2 * stretch, last - stretch, last]) {
    if (to >= from) await grow(directory, from, to)
    from = to + 1
    sizes.push(directoryBytes(directory))
  }
  const [a = 0, b = 0, c = 0, d = 0] = sizes
  return { early: (b - a) / stretch, late: (d - c) / stretch }
}

export const diskBytes: BenchCase = {
  name: 'disk-bytes',
  run: async (env) => {
    const product = productOf(env)
    const last = sized(env, { quick: 80, normal: 1000, long: 10_000 })
    const floor = await slopes(env.directory(), last, growFloor)
    const measured = product && (await slopes(env.directory(), last, growProduct(product)))
    const unit = 'bytes/turn'
    const growth = ({ early, late }: { early: number; late: number }): number => late / early
    return resultOf(env, {
      name: 'disk-bytes',
      conditions: `one session of ${last} turns, whole directory after a clean close, second and last quarter`,
      rows: [
        figureRow({ what: 'second quarter', unit, goal: 'ratio ≤ 3' }, measured?.early ?? null, floor.early),
        figureRow({ what: 'last quarter', unit, goal: 'ratio ≤ 3' }, measured?.late ?? null, floor.late),
        figureRow(
          { what: 'growth, last over second quarter', unit: '×', goal: 'product not growing' },
          measured && growth(measured),
          growth(floor),
        ),
      ],
    })
  },
}
