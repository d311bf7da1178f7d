import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { StoredFact } from '../src/facts/envelope.ts'
import type { Log } from '../src/facts/log-port.ts'
import { defineTool, OutcomeUnknownError, openRuntime, type Session } from '../src/index.ts'
import { readFacts } from '../src/runtime/read-facts.ts'
import { verifyStore } from '../src/testing/verify-store.ts'
import { seeded, send, settle, wildCommand, wildModel, wildTools } from '../test/faults/wild/wild-world.mjs'
import { openLog, tempFile } from '../test/log/temp-store.ts'

/*
 * Real time and a real file: a hundred sessions at once in one process, steered, queued, cancelled and superseded at random.
 * INV-01 to INV-07, INV-09, INV-14, INV-17, INV-18 and INV-22 as `verifyStore` judges them; INV-24 by the receipts.
 */
const soak = process.env.LANDFALL_SOAK === '1'
const seed = soak ? Date.now() % 2 ** 31 : 20_260_501
const sessions = soak ? 400 : 100
const commandsEach = soak ? 60 : 14

/** A clean verdict counts only with this much of what is rare in the run. */
const rare = {
  'task.superseded': 30,
  'call.unknown': 20,
  'call.held': 20,
  'steering.expired': 4,
  'task.blocked': 8,
  'task.await_settled': 10,
  spawned: 60,
}

interface Kept {
  readonly session: Session
  readonly id: string
  readonly seq: number | undefined
}

async function operate(session: Session, random: () => number): Promise<readonly Kept[]> {
  const kept: Kept[] = []
  for (let nth = 0; nth < commandsEach; nth += 1) {
    await sleep(random() * 60)
    const command = await wildCommand(session, random)
    if (command === null) continue
    const id = `${session.scope.session}-${nth}`
    const { receipt, code } = await send(session, command, id)
    if (receipt === undefined) expect(code).not.toBe('INTERNAL')
    else kept.push({ session, id, seq: receipt.seq })
  }
  return kept
}

/** A hundred sessions at once, until each is at rest; then their facts, with every receipt found in them. */
async function storm(log: Log, round: number): Promise<readonly StoredFact[]> {
  const random = seeded(seed + round)
  let calm = false
  const runtime = await openRuntime({
    log,
    model: wildModel(random, () => calm),
    catalog: wildTools({ defineTool, OutcomeUnknownError }, random, () => {}),
    limits: { graceMs: 40 },
  })
  const all = Array.from({ length: sessions }, (_, at) =>
    runtime.session({ tenant: 't', user: 'u', session: `s${round}-${at}` }),
  )
  const operated = all.map((session, at) => operate(session, seeded(seed + round * sessions + at)))
  const kept = (await Promise.all(operated)).flat()
  calm = true
  const begun = [...new Set(kept.map(({ session }) => session))]
  await Promise.all(begun.map((session) => settle(session, 120_000)))
  await runtime.close()
  const facts = new Map<Session, readonly StoredFact[]>()
  for (const session of begun) facts.set(session, await readFacts(log, session.scope, {}))
  for (const { session, id, seq } of kept) {
    const step = facts.get(session)?.[(seq ?? 0) - 1]?.step
    const stands = facts.get(session)?.some((fact) => fact.step === step && fact.command === id)
    expect([id, stands]).toEqual([id, true])
  }
  return [...facts.values()].flat()
}

function count(facts: readonly StoredFact[], counts: Map<string, number>): void {
  for (const fact of facts) {
    const isSpawn = fact.type === 'task.created' && fact.data.kind === 'background'
    for (const name of [fact.type, ...(isSpawn ? ['spawned'] : [])]) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
}

it(`${sessions} sessions at once end with a clean verdict; seed ${seed}`, { timeout: 1_800_000 }, async () => {
  const log = openLog(tempFile())
  const counts = new Map<string, number>()
  const missing = () => Object.entries(rare).filter(([type, least]) => (counts.get(type) ?? 0) < least)
  // Time is real, so what happens how often depends on the machine: a calm round is followed by another one.
  let rounds = 0
  const begun = new Set<string>()
  while (rounds < 4 && (rounds === 0 || missing().length > 0)) {
    const facts = await storm(log, rounds)
    for (const { session } of facts) begun.add(session)
    count(facts, counts)
    rounds += 1
  }
  let verdicts = 0
  for await (const { ok, session, violations } of verifyStore(log)) {
    verdicts += 1
    expect({ ok, session, violations }).toEqual({ ok: true, session, violations: [] })
  }
  expect(verdicts).toBe(begun.size)
  console.log(
    rounds,
    JSON.stringify(Object.fromEntries(Object.keys(rare).map((type) => [type, counts.get(type) ?? 0]))),
  )
  expect(missing()).toEqual([])
})
