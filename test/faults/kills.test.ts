import { expect, it } from 'vitest'
import { tempFolder } from '../log/temp-store.ts'
import { brokenPromises } from './broken-promises.ts'
import { finish, type Left, leftIn, verify, workAndKill } from './kills.ts'
import { seeded } from './wild/wild-world.mjs'

/*
 * Real processes on a real file, killed with SIGKILL at random points. Each next one opens what the last one left and carries on:
 * INV-01, INV-02, INV-04, INV-05, INV-06, INV-07, INV-09, INV-17, INV-22, INV-24.
 */
const soak = process.env.LANDFALL_SOAK === '1'
const seed = soak ? Date.now() % 2 ** 31 : 20_260_401
const kills = soak ? 500 : 8
const pairsOfKills = soak ? 50 : 1

/** Its own doing was fine until then: it said nothing else, and it did not end by itself. */
const killed = { signal: 'SIGKILL', text: expect.stringMatching(/^(receipt\n)*$/) }

function moments(from: number): () => { receipts: number; ms: number } {
  const random = seeded(from)
  return () => ({ receipts: Math.floor(random() * 30), ms: random() * 20 })
}

function countOf(left: Left): (type: string) => number {
  const facts = [...left.facts.values()].flat()
  return (type) => facts.filter((fact) => fact.type === type).length
}

async function judge(directory: string): Promise<Left> {
  expect(await finish(directory, seed)).toEqual({ code: 0, signal: null, text: '' })
  const left = await leftIn(directory)
  expect(brokenPromises(left)).toEqual([])
  expect(left.receipts.length).toBeGreaterThan(10)
  expect(left.effects.length).toBeGreaterThan(5)
  const verified = await verify(directory)
  expect(verified.text).not.toContain('violation')
  expect(verified.code).toBe(0)
  return left
}

it(`a process that is killed ${kills} times loses nothing and does nothing twice; seed ${seed}`, {
  timeout: 3_600_000,
}, async () => {
  const directory = tempFolder()
  const moment = moments(seed)
  for (let nth = 0; nth < kills; nth += 1) {
    const ended = await workAndKill(directory, seed + nth, moment())
    expect(ended).toMatchObject(killed)
  }
  const left = await judge(directory)
  const count = countOf(left)
  const seen = ['run.resumed', 'call.unknown', 'task.superseded', 'steering.applied'].map((type) => [type, count(type)])
  console.log(`${left.receipts.length} receipts, ${left.effects.length} effects, ${JSON.stringify(seen)}`)
  expect(count('run.resumed')).toBeGreaterThan(0)
  expect(count('call.unknown')).toBeGreaterThan(0)
})

it(`two processes on one store, both killed, ${pairsOfKills} times`, { timeout: 3_600_000 }, async () => {
  const directory = tempFolder()
  const moment = moments(seed + 1)
  for (let nth = 0; nth < pairsOfKills; nth += 1) {
    const both = [0, 1].map((one) => workAndKill(directory, seed + 2 * nth + one, moment()))
    for (const ended of await Promise.all(both)) expect(ended).toMatchObject(killed)
  }
  const left = await judge(directory)
  const writers = new Set([...left.facts.values()].flat().map((fact) => fact.owner.id))
  expect(writers.size).toBeGreaterThan(1)
})
