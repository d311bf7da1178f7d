import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkLog } from '../src/testing/check-log.ts'
import { type Move, moves } from './differential/moves.ts'
import { Pair } from './differential/pair.ts'

/*
 * The runtime against the reference model, compared after every move: states of tasks and calls, queue, slot, quarantine, fate
 * of steering, receipts and codes of refusals. At the end of a run its log is judged as everywhere.
 */
const soak = process.env.LANDFALL_SOAK === '1'
const seed = soak ? Date.now() % 2 ** 31 : 20_260_301
const runs = soak ? 4_000 : 100

const steer: Move = { do: 'steer', mode: 'boundary' }
const interrupt: Move = { do: 'steer', mode: 'interrupt' }
const followUp: Move = { do: 'followUp', requires: 'none' }
const cancel = (task: number): Move => ({ do: 'cancel', steering: 'inherit', task })

async function playAll(list: readonly Move[]): Promise<Pair> {
  const pair = await Pair.open()
  for (const move of list) await pair.play(move)
  return pair
}

/** The log has no violation, and the live state is the fold of it. */
async function checkEnd({ rig, facts }: Pair): Promise<void> {
  expect(checkLog(facts).violations).toEqual([])
  expect(await rig.session.state()).toEqual(await rig.session.state({ at: facts.length }))
}

/** A run counts only with enough of what is rare in it. */
const rare = { 'task.superseded': 30, 'call.unknown': 30, 'call.held': 4, 'steering.expired': 5, 'task.blocked': 15 }

it(`random sessions do what the reference model says; seed ${seed}, ${runs} runs`, { timeout: 1_800_000 }, async () => {
  const counts = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(moves, async (list) => {
      const pair = await playAll(list)
      await checkEnd(pair)
      for (const { type } of pair.facts) counts.set(type, (counts.get(type) ?? 0) + 1)
    }),
    { seed, numRuns: runs },
  )
  console.log(JSON.stringify(Object.fromEntries(Object.keys(rare).map((type) => [type, counts.get(type) ?? 0]))))
  for (const [type, least] of Object.entries(rare)) expect(counts.get(type) ?? 0, type).toBeGreaterThanOrEqual(least)
})

/** Shrunk runs in which the two once differed: what each is about, and its moves. */
const regressions: readonly (readonly [string, readonly Move[]])[] = [
  [
    'steering of a turn that ends in an erase expires at its end',
    [{ do: 'start' }, { do: 'calls', names: ['look'] }, steer, { do: 'erase', cancel: true }, { do: 'grace' }],
  ],
  ['a task without a requirement has nothing to unblock', [{ do: 'start' }, followUp, { do: 'unblock', task: 1 }]],
  [
    'interrupts are no failed attempts',
    [{ do: 'start' }, { do: 'crash' }, { do: 'crash' }, interrupt, interrupt, interrupt],
  ],
  [
    'crashes are, and they are bounded',
    [{ do: 'start' }, { do: 'crash' }, { do: 'crash' }, { do: 'crash' }, { do: 'crash' }],
  ],
  [
    'a closed session cancels nothing that waits, and says what has ended',
    [{ do: 'start' }, followUp, { do: 'close', cancel: true }, cancel(0), cancel(1)],
  ],
  [
    'a receipt names the replacement of its own task only',
    [{ do: 'start' }, { do: 'supersede' }, { do: 'calls', names: ['look'] }, { do: 'supersede' }, cancel(0), cancel(1)],
  ],
  [
    'a closed session takes no new input',
    [
      { do: 'start' },
      { do: 'followUp', requires: 'success' },
      { do: 'close', cancel: true },
      { do: 'replace', task: 1 },
    ],
  ],
  [
    'steering outlives a replacement that was taken back',
    [
      { do: 'start' },
      { do: 'calls', names: ['look'] },
      followUp,
      steer,
      { do: 'supersede' },
      cancel(2),
      { do: 'grace' },
    ],
  ],
]

it.each(regressions)('%s', async (_, list) => {
  await checkEnd(await playAll(list))
})
