import { join } from 'node:path'
import { type BenchCase, productOf, resultOf } from '../case.ts'
import { type BenchEnvironment, sized } from '../environment.ts'
import { FloorStore, preparedTurn, writeTurn } from '../floor.ts'
import { elapsedMs, median } from '../measure.ts'
import { figureRow, type Row, sampledRow } from '../result.ts'
import { openRuntime, runTurn, scopeOf } from '../workload.ts'

const windowTurns = 50

/**
 * Turns of another session that the store sees first. They compile the code and carry the write-ahead log once around its
 * file, whose first filling costs more than every later one; else turn 10 would be the dearest and hide all growth.
 */
const warmUpTurns = 600
const measuredSession = 0
const warmUpSession = 1

interface Mark {
  readonly turn: number
  readonly product: number[]
  readonly floor: number[]
}

/** A session and a floor grow side by side, a turn of one after a turn of the other; turns from each mark on are timed. */
async function grow(env: BenchEnvironment, marks: readonly Mark[]): Promise<void> {
  const product = productOf(env)
  const store = new FloorStore(join(env.directory(), 'floor.db'))
  const runtime = product && (await openRuntime(product, env.directory()))
  const both = async (id: number, turn: number): Promise<{ product: number | null; floor: number }> => {
    const session = runtime?.session(scopeOf(id))
    const steps = preparedTurn(id, turn)
    return {
      product: session ? await elapsedMs(() => runTurn(session, turn)) : null,
      floor: await elapsedMs(() => writeTurn(store, steps)),
    }
  }
  for (let turn = 1; turn <= warmUpTurns; turn += 1) await both(warmUpSession, turn)
  const last = Math.max(...marks.map((mark) => mark.turn)) + windowTurns - 1
  for (let turn = 1; turn <= last; turn += 1) {
    const ms = await both(measuredSession, turn)
    const mark = marks.find(({ turn: from }) => turn >= from && turn < from + windowTurns)
    if (ms.product !== null) mark?.product.push(ms.product)
    mark?.floor.push(ms.floor)
  }
  await runtime?.close()
  store.close()
}

function markTurns(env: BenchEnvironment): readonly number[] {
  if (env.scale === 'quick') return [10, 100]
  return env.scale === 'long' ? [10, 100, 1000, 10_000] : [10, 100, 1000]
}

function rowsOf(marks: readonly Mark[], available: boolean): Row[] {
  const rows = marks.map((mark) =>
    sampledRow(
      { what: `turn ${mark.turn}`, unit: 'ms', goal: 'ratio ≤ 2' },
      available ? mark.product : null,
      mark.floor,
    ),
  )
  const first = marks[0]
  const last = marks.at(-1)
  if (first === undefined || last === undefined) return rows
  const growth = (pick: (mark: Mark) => number[]): number => median(pick(last)) / median(pick(first))
  const head = { what: `growth, turn ${last.turn} over turn ${first.turn}`, unit: '×', goal: 'product ≤ 1.1' }
  rows.push(
    figureRow(
      head,
      available ? growth((mark) => mark.product) : null,
      growth((mark) => mark.floor),
    ),
  )
  return rows
}

export const sequentialTurn: BenchCase = {
  name: 'sequential-turn',
  run: async (env) => {
    const marks = markTurns(env).map((turn) => ({ turn, product: [], floor: [] }))
    const rounds = sized(env, { quick: 1, normal: 5, long: 3 })
    for (let round = 0; round < rounds; round += 1) await grow(env, marks)
    return resultOf(env, {
      name: 'sequential-turn',
      conditions: `one session, synchronous=FULL, window 64 KiB, ${windowTurns} turns from each mark, ${rounds} sessions, turn by turn beside the floor, each on a store of ${warmUpTurns} turns of another session`,
      rows: rowsOf(marks, productOf(env) !== null),
    })
  },
}
