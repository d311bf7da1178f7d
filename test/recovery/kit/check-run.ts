import { expect } from 'vitest'
import type { StoredFact } from '../../../src/facts/envelope.ts'
import { checkLog } from '../../../src/testing/check-log.ts'
import { verifyStore } from '../../../src/testing/verify-store.ts'
import type { Scenario } from './scenario.ts'

/** What must hold after any run: the log's rules, the world outside, the receipts, and that opening again changes nothing. */
export async function checkRun(run: Scenario): Promise<readonly StoredFact[]> {
  await run.time.settle()
  const facts = await run.session.log()
  expect(checkLog(facts).violations).toEqual([])
  for await (const verdict of verifyStore(run.store)) expect(verdict.violations).toEqual([])
  checkEffects(run, facts)
  checkReceipts(run, facts)
  for (const _ of [1, 2]) {
    await run.reopen()
    expect((await run.session.log()).length).toBe(facts.length)
  }
  const last = facts.at(-1)?.seq ?? 0
  expect(await run.session.state()).toEqual(await run.session.state({ at: last }))
  return facts
}

/** Each change at most once, exactly once where the log says that it succeeded, and never where it says that nothing began. */
function checkEffects({ world }: Scenario, facts: readonly StoredFact[]): void {
  for (const count of world.changes.values()) expect(count).toBe(1)
  for (const keys of world.keys.values()) expect(keys.size).toBe(1)
  const effects = new Map<string, string>()
  for (const fact of facts) {
    const id = fact.call ?? ''
    if (fact.type === 'call.requested') effects.set(id, fact.data.effect ?? '')
    const changed = effects.get(id) === 'mutate' ? (world.changes.get(id) ?? 0) : null
    if (changed === null) continue
    if (fact.type === 'call.finished' && fact.data.outcome === 'succeeded') expect(changed).toBe(1)
    if (fact.type === 'call.refused') expect(changed).toBe(0)
    if (fact.type === 'call.cancelled' && fact.data.when === 'before_start') expect(changed).toBe(0)
  }
}

/** INV-24: every receipt that was returned stands in the log, once, under its id and at its seq. */
function checkReceipts({ receipts }: Scenario, facts: readonly StoredFact[]): void {
  const accepted = facts.filter((fact) => fact.type === 'command.accepted')
  const ids = accepted.map((fact) => fact.data.command)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [id, receipt] of receipts) {
    expect(ids).toContain(id)
    const fact = accepted[ids.indexOf(id)]
    const first = facts.find((other) => other.step === fact?.step && other.command === id)
    expect(receipt.seq).toBe(first === undefined ? -1 : Math.min(first.seq, receipt.seq ?? 0))
  }
}
