import { join } from 'node:path'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { ChartFold, type Charts, loadCharts } from '../chart-fold.ts'
import { type BenchEnvironment, sized } from '../environment.ts'
import { FloorStore } from '../floor.ts'
import { FloorFold, transitionsATurn } from '../floor-charts.ts'
import { fillFloor, replay as replayRows } from '../floor-replay.ts'
import { floorTurn, rowsATurn } from '../floor-rows.ts'
import { elapsedMs, interleave, perSecond, type Samples } from '../measure.ts'
import type { Fact, Product, Session } from '../product.ts'
import { type Row, sampledRow } from '../result.ts'
import { fillSessions, openRuntime, scopeOf } from '../workload.ts'

const pageFacts = 500

interface Recorded {
  readonly directory: string
  /** The first half of each session's facts: a state of the past, which no snapshot of the present can answer. */
  readonly sessions: readonly (readonly Fact[])[]
  readonly facts: number
}

async function wholeLog(session: Session): Promise<readonly Fact[]> {
  const facts: Fact[] = []
  for (;;) {
    const page = await session.log({ after: facts.at(-1)?.seq ?? 0, limit: pageFacts })
    if (page.length === 0) return facts
    facts.push(...page)
  }
}

async function record(
  product: Product,
  directory: string,
  { sessions, turns }: { sessions: number; turns: number },
): Promise<Recorded> {
  const runtime = await openRuntime(product, directory)
  await fillSessions(runtime, sessions, turns)
  const halves: (readonly Fact[])[] = []
  for (let index = 0; index < sessions; index += 1) {
    const log = await wholeLog(runtime.session(scopeOf(index)))
    halves.push(log.slice(0, Math.floor(log.length / 2)))
  }
  await runtime.close()
  return { directory, sessions: halves, facts: halves.reduce((total, half) => total + half.length, 0) }
}

/** The product's replay: read, decode, check and fold, of every session, by a runtime that has just been opened. */
async function productReplay(product: Product, recorded: Recorded): Promise<number> {
  const runtime = await openRuntime(product, recorded.directory)
  const ms = await elapsedMs(async () => {
    for (const [index, half] of recorded.sessions.entries()) {
      const { seq } = await runtime.session(scopeOf(index)).state({ at: half.length })
      if (seq !== half.length) throw new Error(`the state of seq ${half.length} came back with seq ${seq}`)
    }
  })
  await runtime.close()
  return ms
}

function rawReplay(charts: Charts, recorded: Recorded): Promise<number> {
  return elapsedMs(() => {
    for (const half of recorded.sessions) {
      const fold = new ChartFold(charts)
      for (const fact of half) fold.offer(fact)
      if (fold.moved === 0) throw new Error('the charts took no fact of the log')
    }
  })
}

async function productSamples(
  env: BenchEnvironment,
  product: Product,
): Promise<{ facts: number; samples: Samples<'product' | 'raw'> }> {
  const charts = await loadCharts()
  if ('missing' in charts) throw new Error(charts.missing)
  const sessions = sized(env, { quick: 2, normal: 20, long: 240 })
  const turns = sized(env, { quick: 20, normal: 500 })
  const recorded = await record(product, env.directory(), { sessions, turns })
  const rate = (ms: number): number => perSecond(recorded.facts, ms)
  const samples = await interleave<'product' | 'raw'>(
    { rounds: sized(env, { quick: 2, normal: 5, long: 3 }) },
    {
      product: async () => rate(await productReplay(product, recorded)),
      raw: async () => rate(await rawReplay(charts.found, recorded)),
    },
  )
  return { facts: recorded.facts, samples }
}

/** The floor's own charts over the floor's own rows: the speed of bare transitions, and of reading and parsing around them. */
async function floorRows(env: BenchEnvironment): Promise<Row[]> {
  const turns = sized(env, { quick: 200, normal: 5000 })
  const store = new FloorStore(join(env.directory(), 'floor.db'))
  fillFloor(store, turns)
  const samples = await interleave<'bare' | 'rows'>(
    { rounds: sized(env, { quick: 2, normal: 5 }) },
    {
      bare: async () => {
        const fold = new FloorFold()
        const ms = await elapsedMs(() => {
          for (let turn = 1; turn <= turns; turn += 1) for (const event of floorTurn(turn).flat()) fold.offer(event)
        })
        return perSecond(turns * rowsATurn, ms)
      },
      rows: async () => perSecond(turns * rowsATurn, await elapsedMs(() => replayRows(store))),
    },
  )
  store.close()
  const head = { unit: 'events/s', goal: '-' }
  return [
    sampledRow({ ...head, what: `floor's charts alone, ${transitionsATurn} transitions a turn` }, null, samples.bare),
    sampledRow({ ...head, what: "floor's rows read, parsed and folded" }, null, samples.rows),
  ]
}

export const replay: BenchCase = {
  name: 'replay',
  run: async (env) => {
    const product = productOf(env)
    const measured = product && (await productSamples(env, product))
    const head = { what: 'same facts, floor: raw machine.transition', unit: 'facts/s', goal: 'ratio ≥ 0.5' }
    const row = sampledRow(head, measured?.samples.product ?? null, measured?.samples.raw ?? null)
    const size = measured === null ? '' : `, ${measured.facts} facts`
    return resultOf(env, {
      name: 'replay',
      conditions: `state of the past by folding the first half of each log${size}`,
      rows: [row, ...(await floorRows(env))],
    })
  },
}
