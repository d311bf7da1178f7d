import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkAll } from '../test/runtime/kit/check.ts'
import { moves, type Played, play } from './random/operators.ts'

/*
 * `checkAll` judges the log of each run with `checkLog` (INV-01, INV-02, INV-03, INV-04, INV-05, INV-06, INV-07, INV-09, INV-11,
 * INV-13, INV-17, INV-18, INV-22), compares every live state with the fold (INV-08), what subscribers saw with the log (INV-07),
 * every request that the model got with the one rebuilt from the log (INV-14), and looks for raw text in facts (INV-12).
 */
const soak = process.env.LANDFALL_SOAK === '1'
const seed = soak ? Date.now() % 2 ** 31 : 20_260_101
const runs = soak ? 1_500 : 120

/** A random run that meets nothing rare proves nothing: this many facts of each kind must have occurred. */
const rare = {
  'task.superseded': 5,
  'call.unknown': 5,
  'call.held': 5,
  'steering.expired': 5,
  'task.blocked': 5,
  'task.await_settled': 2,
  'group.resolved': 3,
}

/** INV-24: what was answered as done is in the log, in one piece, at the seq that the receipt names. */
function checkReceipts({ facts, receipts }: Played): void {
  for (const { move, receipt } of receipts) {
    if (receipt.result === 'too_late' || receipt.seq === undefined) continue
    const fact = facts[receipt.seq - 1]
    expect(fact?.seq, JSON.stringify(move)).toBe(receipt.seq)
    if (receipt.task !== undefined && receipt.result === 'applied')
      expect(facts.some(({ task, step }) => task === receipt.task && step === fact?.step)).toBe(true)
  }
}

it(`random sessions with crashes: state is the fold at every prefix (INV-08), receipts stand (INV-24); seed ${seed}, ${runs} runs`, {
  timeout: 900_000,
}, async () => {
  const counts = new Map<string, number>()
  const played = async (list: Parameters<typeof play>[0]) => {
    const result = await play(list)
    checkReceipts(result)
    await checkAll(result.rig)
    for (const { type } of result.facts) counts.set(type, (counts.get(type) ?? 0) + 1)
    counts.set('receipts', (counts.get('receipts') ?? 0) + result.receipts.length)
  }
  await fc.assert(fc.asyncProperty(moves, played), { seed, numRuns: runs })
  const total = Object.fromEntries(Object.keys(rare).map((type) => [type, counts.get(type) ?? 0]))
  console.log(`receipts ${counts.get('receipts')}, ${JSON.stringify(total)}`)
  for (const [type, least] of Object.entries(rare)) expect(counts.get(type) ?? 0, type).toBeGreaterThanOrEqual(least)
})
