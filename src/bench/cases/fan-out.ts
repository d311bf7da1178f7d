import { type BenchCase, productOf, resultOf } from '../case.ts'
import { sized } from '../environment.ts'
import { elapsedMs, interleave, median, perSecond } from '../measure.ts'
import type { Product } from '../product.ts'
import { figureRow, type Row, sampledRow } from '../result.ts'
import { openRuntime, runTurns, scopeOf } from '../workload.ts'

interface Delivered {
  readonly ms: number
  readonly deliveries: number
}

/**
 * Turns of one session with `subscribers` who each count what they get; the time ends when the last of them has the last
 * fact of the log. Missed or doubled facts are an error or no end at all, never a fast run.
 */
async function onProduct(
  product: Product,
  directory: string,
  work: { turns: number; subscribers: number },
): Promise<Delivered> {
  const runtime = await openRuntime(product, directory)
  const session = runtime.session(scopeOf(0))
  await runTurns(session, 1, 1)
  const { seq: before } = await session.state()
  const last = Array.from({ length: work.subscribers }, () => before)
  let deliveries = 0
  let expected = Number.POSITIVE_INFINITY
  let finish = (): void => {}
  const subscriptions = last.map((_, index) =>
    runtime.events(scopeOf(0)).subscribe({
      next: (fact) => {
        if (fact.seq <= before) return
        last[index] = fact.seq
        deliveries += 1
        if (deliveries >= expected) finish()
      },
    }),
  )
  let after = before
  const ms = await elapsedMs(async () => {
    await runTurns(session, 2, work.turns + 1)
    after = (await session.state()).seq
    await new Promise<void>((done) => {
      finish = done
      expected = (after - before) * work.subscribers
      if (deliveries >= expected) finish()
    })
  })
  for (const subscription of subscriptions) subscription.unsubscribe()
  await runtime.close()
  if (deliveries !== expected || last.some((seq) => seq !== after)) {
    throw new Error(`${deliveries} deliveries instead of ${expected}, or not to everyone`)
  }
  return { ms, deliveries }
}

/** As many calls of plain callbacks in memory: what delivering costs when nothing is durable and nobody is isolated. */
async function onFloor(facts: number, subscribers: number): Promise<Delivered> {
  const seen = Array.from({ length: subscribers }, () => 0)
  const callbacks = seen.map((_, index) => (fact: { readonly seq: number }) => {
    seen[index] = fact.seq
  })
  const ms = await elapsedMs(() => {
    for (let seq = 1; seq <= facts; seq += 1) for (const callback of callbacks) callback({ seq })
  })
  if (seen.some((seq) => seq !== facts)) throw new Error('a callback was left out')
  return { ms, deliveries: facts * subscribers }
}

/** Facts of a normal turn with one call, for the size of the floor's run. */
const factsATurn = 17

/** What one delivery costs a subscriber, in microseconds: the time over that of the same turns with nobody listening. */
function costRow(
  what: string,
  deliveries: number,
  times: { with: readonly number[] | null; without: readonly number[] | null },
): Row {
  const cost = times.with && times.without ? median(times.with) - median(times.without) : null
  return figureRow({ what, unit: 'µs', goal: 'flat' }, cost && (cost * 1000) / deliveries, null)
}

export const fanOut: BenchCase = {
  name: 'fan-out',
  run: async (env) => {
    const product = productOf(env)
    const turns = sized(env, { quick: 5, normal: 50 })
    const rounds = sized(env, { quick: 2, normal: 5 })
    let facts = turns * factsATurn
    const listened = (subscribers: number) => async (): Promise<number> => {
      if (product === null) throw new Error('no product to listen to')
      const delivered = await onProduct(product, env.directory(), { turns, subscribers })
      if (subscribers > 0) facts = delivered.deliveries / subscribers
      return delivered.ms
    }
    const samples = await interleave<'nobody' | 'hundred' | 'thousand' | 'floorHundred' | 'floorThousand'>(
      { rounds },
      {
        nobody: product && listened(0),
        hundred: product && listened(100),
        thousand: product && listened(1000),
        floorHundred: async () => (await onFloor(turns * factsATurn, 100)).ms,
        floorThousand: async () => (await onFloor(turns * factsATurn, 1000)).ms,
      },
    )
    const rates = (times: readonly number[] | null, deliveries: number): readonly number[] | null =>
      times?.map((ms) => perSecond(deliveries, ms)) ?? null
    const rate = (subscribers: number, on: readonly number[] | null, floor: readonly number[] | null): Row =>
      sampledRow(
        { what: `${subscribers} subscribers`, unit: 'deliveries/s', goal: 'product ≥ 200,000 at 100' },
        rates(on, facts * subscribers),
        rates(floor, turns * factsATurn * subscribers),
      )
    return resultOf(env, {
      name: 'fan-out',
      conditions: `${turns} durable turns of one session while subscribers listen, ${rounds} interleaved rounds; floor: plain callbacks in memory`,
      rows: [
        rate(100, samples.hundred, samples.floorHundred),
        rate(1000, samples.thousand, samples.floorThousand),
        costRow('cost a delivery, 100 subscribers', facts * 100, { with: samples.hundred, without: samples.nobody }),
        costRow('cost a delivery, 1,000 subscribers', facts * 1000, {
          with: samples.thousand,
          without: samples.nobody,
        }),
      ],
    })
  },
}
