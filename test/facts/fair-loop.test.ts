import { expect, it } from 'vitest'
import { FairLoop } from '../../src/facts/fair-loop.ts'
import { countedLoop } from './counted-loop.ts'

/** A clock that only work moves, and a count of the turns of the loop. */
function watched() {
  let now = 0
  const { scheduler, turn } = countedLoop()
  const fair = new FairLoop({ now: () => now }, scheduler)
  const worked: { piece: number; turn: number }[] = []
  const work = async (piece: number, ms: number) => {
    while (fair.spent) await fair.turn()
    now += ms
    worked.push({ piece, turn: turn() })
  }
  return { work, worked, turns: turn }
}

it('pieces of work that come at once get as many turns of the loop as they need, and keep their order', async () => {
  const { work, worked } = watched()
  await Promise.all(Array.from({ length: 20 }, (_, piece) => work(piece, 4)))
  expect(worked.map(({ piece }) => piece)).toEqual(Array.from({ length: 20 }, (_, piece) => piece))
  // Two of 4 ms use a stretch of 5 ms up.
  expect(worked.map(({ turn }) => turn)).toEqual(Array.from({ length: 20 }, (_, piece) => Math.floor(piece / 2)))
})

it('work that takes no time waits for nobody', async () => {
  const { work, worked, turns } = watched()
  await Promise.all(Array.from({ length: 1_000 }, (_, piece) => work(piece, 0)))
  expect(worked).toHaveLength(1_000)
  expect(turns()).toBe(0)
})
