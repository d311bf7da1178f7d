import { type BenchCase, productOf, resultOf } from '../case.ts'
import { type BenchEnvironment, sized } from '../environment.ts'
import { elapsedMs } from '../measure.ts'
import type { Runtime, Session } from '../product.ts'
import { sampledRow } from '../result.ts'
import { openRuntime, runTurn, runTurns, scopeOf } from '../workload.ts'

/** Where a young conversation is measured: after the turns that open it, for this many turns. */
const youngFrom = 10
const youngTurns = 50

interface Ages {
  readonly aged: number[]
  readonly young: number[]
}

interface Sizes {
  readonly agedTurns: number
  readonly rounds: number
}

/**
 * One old conversation and one young one after another work on the same store, turn by turn. Both stand on a file of the
 * same size and on the same compiled code, so that what differs between them is the length of the conversation alone.
 */
async function measure(runtime: Runtime, { agedTurns, rounds }: Sizes): Promise<Ages> {
  const ages: Ages = { aged: [], young: [] }
  const old = runtime.session(scopeOf(0))
  await runTurns(old, 1, agedTurns)
  let next = agedTurns + 1
  const timed = (session: Session, turn: number): Promise<number> => elapsedMs(() => runTurn(session, turn))
  for (let round = 1; round <= rounds; round += 1) {
    const fresh = runtime.session(scopeOf(round))
    await runTurns(fresh, 1, youngFrom - 1)
    for (let turn = youngFrom; turn < youngFrom + youngTurns; turn += 1) {
      ages.young.push(await timed(fresh, turn))
      ages.aged.push(await timed(old, next++))
    }
  }
  return ages
}

async function agesOf(env: BenchEnvironment, sizes: Sizes): Promise<Ages | null> {
  const product = productOf(env)
  if (product === null) return null
  const runtime = await openRuntime(product, env.directory())
  const ages = await measure(runtime, sizes)
  await runtime.close()
  return ages
}

export const conversationLength: BenchCase = {
  name: 'conversation-length',
  run: async (env) => {
    const sizes = {
      agedTurns: sized(env, { quick: 60, normal: 1000, long: 10_000 }),
      rounds: sized(env, { quick: 1, normal: 10 }),
    }
    const ages = await agesOf(env, sizes)
    return resultOf(env, {
      name: 'conversation-length',
      conditions: `one session of more than ${sizes.agedTurns} turns (product) beside sessions at turns ${youngFrom} to ${youngFrom + youngTurns - 1} (floor), turn by turn on one store, synchronous=FULL, window 64 KiB, compactions included`,
      rows: [
        sampledRow(
          { what: 'a turn late over a turn early', unit: 'ms', goal: 'ratio ≤ 1.1' },
          ages?.aged ?? null,
          ages?.young ?? null,
        ),
      ],
    })
  },
}
