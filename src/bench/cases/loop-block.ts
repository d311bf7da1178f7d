import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurnOfLoop, setTimeout as pause } from 'node:timers/promises'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { sized } from '../environment.ts'
import { FloorStore } from '../floor.ts'
import { GroupCommit, workingSession } from '../floor-grouped.ts'
import { interleave } from '../measure.ts'
import { sampledRow } from '../result.ts'
import { openRuntime, runTurns, scopeOf } from '../workload.ts'

const resolutionMs = 1
const settleMs = 20
const startedTogether = 10

/** The longest time for which the loop did not come round while `work` ran, by a timer that is due every millisecond. */
export async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  await pause(settleMs)
  delays.reset()
  await work()
  await pause(settleMs)
  delays.disable()
  return Math.max(0, delays.max / 1e6 - resolutionMs)
}

/** Sessions begin a few at a turn of the loop: the generator must not be the block that is measured. */
async function staggered(count: number, run: (session: number) => Promise<unknown>): Promise<void> {
  const running: Promise<unknown>[] = []
  for (let session = 0; session < count; session += 1) {
    const one = run(session)
    // A failure is told by the wait for all of them, also when it comes while others still begin.
    one.catch(() => {})
    running.push(one)
    if (session % startedTogether === startedTogether - 1) await nextTurnOfLoop()
  }
  await Promise.all(running)
}

export const loopBlock: BenchCase = {
  name: 'loop-block',
  run: async (env) => {
    const product = productOf(env)
    const count = sized(env, { quick: 100, normal: 1000 })
    const turns = sized(env, { quick: 1, normal: 3 })
    const rounds = sized(env, { quick: 2, normal: 5 })
    const samples = await interleave<'product' | 'floor'>(
      { rounds },
      {
        product:
          product &&
          (async () => {
            const runtime = await openRuntime(product, env.directory())
            const ms = await longestBlockMs(() =>
              staggered(count, (session) => runTurns(runtime.session(scopeOf(session)), 1, turns)),
            )
            await runtime.close()
            return ms
          }),
        floor: async () => {
          const store = new FloorStore(join(env.directory(), 'floor.db'))
          const commits = new GroupCommit(store)
          const ms = await longestBlockMs(() => staggered(count, (session) => workingSession(commits, session, turns)))
          store.close()
          return ms
        },
      },
    )
    return resultOf(env, {
      name: 'loop-block',
      conditions: `${count} busy sessions × ${turns} turns, longest block of each of ${rounds} rounds; floor: group commit with transitions and hashes`,
      rows: [sampledRow({ what: 'longest block', unit: 'ms', goal: 'product ≤ 50' }, samples.product, samples.floor)],
    })
  },
}
