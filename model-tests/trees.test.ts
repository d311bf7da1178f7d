import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkLog } from '../src/testing/check-log.ts'
import { type TreeMove, treeMoves } from './differential/tree-moves.ts'
import { TreePair } from './differential/tree-pair.ts'

/*
 * Trees of background tasks, their groups and awaits: the runtime against the reference model after every move (INV-16, INV-19),
 * and its log as everywhere at the end.
 */
const soak = process.env.LANDFALL_SOAK === '1'
const seed = soak ? Date.now() % 2 ** 31 : 20_260_701
const runs = soak ? 3_000 : 60

async function playAll(list: readonly TreeMove[]): Promise<TreePair> {
  const pair = await TreePair.open()
  for (const move of list) await pair.play(move)
  return pair
}

async function checkEnd({ rig, facts }: TreePair): Promise<void> {
  expect(checkLog(facts).violations).toEqual([])
  expect(await rig.session.state()).toEqual(await rig.session.state({ at: facts.length }))
}

/** A run counts only with enough of what is rare in it. */
const rare = {
  'task.awaiting': 10,
  'task.await_settled': 8,
  'group.resolved': 5,
  'group.cancelled': 4,
  'result.offered': 1,
  'task.superseded': 5,
}

it(`random trees do what the reference model says; seed ${seed}, ${runs} runs`, { timeout: 1_800_000 }, async () => {
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  await fc.assert(
    fc.asyncProperty(treeMoves, async (list) => {
      const pair = await playAll(list)
      await checkEnd(pair)
      for (const fact of pair.facts) {
        count(fact.type)
        if (fact.type === 'task.cancelling' && fact.data.cascadedFrom !== undefined) count('cascaded')
      }
    }),
    { seed, numRuns: runs },
  )
  const least = { ...rare, cascaded: 20 }
  console.log(JSON.stringify(Object.fromEntries(Object.keys(least).map((type) => [type, counts.get(type) ?? 0]))))
  for (const [type, most] of Object.entries(least)) expect(counts.get(type) ?? 0, type).toBeGreaterThanOrEqual(most)
})

/*
 * "Several of these: mutating calls are settled first, then others are tried again" (Recovery), and a quarantine is of the whole
 * session: a call of the first task must not start again before a change of the second is quarantined.
 */
it('changes of all tasks are quarantined before a call of any task is tried again', async () => {
  await playAll([
    { do: 'start' },
    { do: 'spawn', parent: 0, propagate: 'cascade' },
    { do: 'calls', task: 0, names: ['note'] },
    { do: 'calls', task: 0, names: ['order'] },
    { do: 'crash' },
  ])
})
