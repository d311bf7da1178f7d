import { expect, it } from 'vitest'
import { FairLoop } from '../../src/facts/fair-loop.ts'
import type { AppendResult, StepAppend } from '../../src/facts/log-port.ts'
import { Committer } from '../../src/runtime/committer.ts'
import { countedLoop } from '../facts/counted-loop.ts'

const stepOf = (seq: number, count = 1) => ({ firstSeq: seq, count }) as StepAppend

/** A store in which a step takes a millisecond, and which notes what came in one append and in which turn of the loop. */
function watched(batchFacts = 1_024) {
  let now = 0
  const { scheduler, turn } = countedLoop()
  const fair = new FairLoop({ now: () => now }, scheduler)
  const appends: { seqs: number[]; turn: number }[] = []
  const append = async (steps: readonly StepAppend[]): Promise<AppendResult[]> => {
    now += steps.length
    appends.push({ seqs: steps.map(({ firstSeq }) => firstSeq), turn: turn() })
    return steps.map(({ firstSeq }) => ({ ok: true, cursor: firstSeq, duplicate: false }))
  }
  const committer = new Committer({ append }, { scheduler, fair }, batchFacts)
  return { committer, appends, fair, work: (ms: number) => (now += ms) }
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

it('steps of many sessions share appends of a bounded size, in their order, each with its own result', async () => {
  const { committer, appends } = watched()
  const results = await Promise.all(upTo(80).map((seq) => committer.commit(stepOf(seq))))
  expect(results).toEqual(upTo(80).map((cursor) => ({ ok: true, cursor, duplicate: false })))
  expect(appends.map(({ seqs }) => seqs.length)).toEqual([32, 32, 16])
  expect(appends.flatMap(({ seqs }) => seqs)).toEqual(upTo(80))
  const turns = appends.map((append) => append.turn)
  expect(new Set(turns).size, 'each in a turn of the loop of its own').toBe(3)
})

it('a step larger than a batch of facts goes alone', async () => {
  const { committer, appends } = watched(10)
  await Promise.all([stepOf(1, 4), stepOf(5, 40), stepOf(45, 4), stepOf(49, 6)].map((step) => committer.commit(step)))
  expect(appends.map(({ seqs }) => seqs)).toEqual([[1], [5], [45, 49]])
})

it('an append does not begin in a stretch that other work has used up', async () => {
  const { committer, appends, fair, work } = watched()
  await fair.turn()
  const committed = committer.commit(stepOf(1))
  work(100)
  expect(fair.spent).toBe(true)
  await committed
  expect(appends).toHaveLength(1)
  expect(appends[0]?.turn, 'the turn of the flush, and one more').toBe(3)
})
