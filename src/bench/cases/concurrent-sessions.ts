import { join } from 'node:path'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { type BenchEnvironment, sized } from '../environment.ts'
import { FloorStore, writeInterleaved } from '../floor.ts'
import { GroupCommit, groupedSession, preparedTurns, workingSession } from '../floor-grouped.ts'
import { elapsedMs, interleave, perSecond } from '../measure.ts'
import type { Product } from '../product.ts'
import { sampledRow } from '../result.ts'
import { openRuntime, runTurns, scopeOf } from '../workload.ts'

const sessionCount = 64
const sessionIds = Array.from({ length: sessionCount }, (_, index) => index)

async function onFloor(env: BenchEnvironment, work: (store: FloorStore) => unknown): Promise<number> {
  const store = new FloorStore(join(env.directory(), 'floor.db'))
  const ms = await elapsedMs(() => work(store))
  store.close()
  return ms
}

function plainFloor(env: BenchEnvironment, turns: number): Promise<number> {
  const prepared = sessionIds.map((session) => preparedTurns(session, turns))
  return onFloor(env, (store) => {
    for (let turn = 0; turn < turns; turn += 1) {
      writeInterleaved(
        store,
        prepared.map((session) => session[turn] ?? []),
      )
    }
  })
}

function groupedFloor(env: BenchEnvironment, turns: number): Promise<number> {
  const prepared = sessionIds.map((session) => preparedTurns(session, turns))
  return onFloor(env, (store) => {
    const commits = new GroupCommit(store)
    return Promise.all(prepared.map((session) => groupedSession(commits, session)))
  })
}

function workingFloor(env: BenchEnvironment, turns: number): Promise<number> {
  return onFloor(env, (store) => {
    const commits = new GroupCommit(store)
    return Promise.all(sessionIds.map((session) => workingSession(commits, session, turns)))
  })
}

async function onProduct(product: Product, directory: string, turns: number): Promise<number> {
  const runtime = await openRuntime(product, directory)
  const ms = await elapsedMs(() =>
    Promise.all(sessionIds.map((session) => runTurns(runtime.session(scopeOf(session)), 1, turns))),
  )
  await runtime.close()
  return ms
}

export const concurrentSessions: BenchCase = {
  name: 'concurrent-sessions',
  run: async (env) => {
    const product = productOf(env)
    const turns = sized(env, { quick: 5, normal: 40, long: 100 })
    const rounds = sized(env, { quick: 2, normal: 7 })
    const rate = (ms: number): number => perSecond(sessionCount * turns, ms)
    const samples = await interleave<'product' | 'plain' | 'grouped' | 'working'>(
      { rounds },
      {
        product: product && (async () => rate(await onProduct(product, env.directory(), turns))),
        plain: async () => rate(await plainFloor(env, turns)),
        grouped: async () => rate(await groupedFloor(env, turns)),
        working: async () => rate(await workingFloor(env, turns)),
      },
    )
    const unit = 'turns/s'
    return resultOf(env, {
      name: 'concurrent-sessions',
      conditions: `${sessionCount} sessions × ${turns} turns, synchronous=FULL, ${rounds} interleaved rounds on fresh stores`,
      rows: [
        sampledRow({ what: 'floor: one commit a step', unit, goal: 'ratio ≥ 1.5' }, samples.product, samples.plain),
        sampledRow({ what: 'floor: group commit', unit, goal: '-' }, samples.product, samples.grouped),
        sampledRow(
          { what: 'floor: group commit, transitions, hashes', unit, goal: 'ratio ≥ 0.5' },
          samples.product,
          samples.working,
        ),
      ],
    })
  },
}
