import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { Invariant } from '../../src/testing/check-log/violation.ts'
import { checkLog, createLogChecker } from '../../src/testing/check-log.ts'
import { digest } from './drafts.ts'
import { buildLog, canonical, type Steps, seqOf } from './log-builder.ts'
import { altered, expectPlanted, findings, type Place, readdressed } from './plant.ts'
import { closeLog, queueLog, requestsLog, steeringLog, validLogs } from './valid-logs.ts'
import { crashTrace, interruptTrace, supersedeTrace } from './worked-traces.ts'

function changed(facts: readonly StoredFact[], seq: number, change: object): StoredFact[] {
  return facts.map((fact) => (fact.seq === seq ? ({ ...fact, ...change } as StoredFact) : fact))
}

const facts = buildLog(supersedeTrace)
const lastOfStep2 = facts.filter((fact) => fact.step === 2).at(-1)?.seq ?? 0
const firstOfStep3 = lastOfStep2 + 1

const records: readonly (readonly [Invariant, string, readonly StoredFact[], number])[] = [
  ['INV-07', 'a hole', facts.filter((fact) => fact.seq !== 5), 6],
  ['INV-07', 'a fact twice', facts.flatMap((fact) => (fact.seq === 5 ? [fact, fact] : [fact])), 5],
  ['INV-07', 'a cursor that goes back', changed(facts, 5, { cursor: 3 }), 5],
  ['INV-07', 'an id that goes back', changed(facts, 5, { id: facts[2]?.id }), 5],
  ['INV-07', 'an id that is no ULID', changed(facts, 5, { id: 'five' }), 5],
  ['INV-09', 'a changed field', changed(facts, 5, { at: '2026-01-02T00:00:00.000Z' }), 1],
  ['INV-09', 'changed data', changed(facts, lastOfStep2, { data: { attempt: 1, control: 7 } }), 7],
  ['INV-09', 'another prev', changed(facts, firstOfStep3, { prev: 'f'.repeat(64) }), firstOfStep3],
  ['INV-09', 'another hash', changed(facts, lastOfStep2, { hash: 'f'.repeat(64) }), lastOfStep2],
  [
    'INV-09',
    'a step that is left out',
    facts.filter((fact) => fact.step !== 6),
    facts.find((f) => f.step === 7)?.seq ?? 0,
  ],
  ['INV-09', 'a session that is not opened first', changed(facts, 1, { type: 'session.reopened', data: {} }), 1],
  ['INV-09', 'data that is gone', changed(facts, 2, { data: null }), 2],
  ['INV-17', 'an old owner', buildLog([...crashTrace.slice(0, 3), [readOld()], ...crashTrace.slice(4)]), oldSeq()],
  [
    'INV-17',
    'two owners of one epoch',
    buildLog(readdressed(crashTrace, ['session.owned'], { owner: { id: 'x', epoch: 1 } })),
    ownedSeq(),
  ],
]

function readOld() {
  const step = crashTrace[3]?.[0]
  if (step === undefined) throw new Error('the trace has a fourth step')
  return { ...step, owner: { id: 'instance-1', epoch: 1 } }
}

function oldSeq(): number {
  return seqOf(buildLog(crashTrace), 'call.finished')
}

function ownedSeq(): number {
  return seqOf(buildLog(crashTrace), 'session.owned')
}

const long = 'x'.repeat(201)
const drafted: readonly (readonly [Invariant, string, Steps, Place])[] = [
  [
    'INV-12',
    'a reason of 201 characters',
    altered(supersedeTrace, ['task.cancelling'], { reason: long }),
    ['task.cancelling'],
  ],
  ['INV-12', 'a title of 201 characters', altered(queueLog, ['session.opened'], { title: long }), ['session.opened']],
  ['INV-12', 'raw text for a digest', altered(queueLog, ['message.added'], { digest: 'pay Bob' }), ['message.added']],
  [
    'INV-12',
    'raw arguments for a digest',
    altered(supersedeTrace, ['call.requested'], { arguments: '{}' }),
    ['call.requested'],
  ],
  [
    'INV-17',
    'session.owned names another owner',
    altered(crashTrace, ['session.owned'], { owner: 'x' }),
    ['session.owned'],
  ],
  ['INV-17', 'a resumption that is not counted', altered(crashTrace, ['run.resumed'], { attempt: 0 }), ['run.resumed']],
  [
    'INV-23',
    'a fact over 64 KiB',
    altered(queueLog, ['task.started'], { settings: { long: 'x'.repeat(65_536) } }),
    ['task.started'],
  ],
]

describe('planted violations of records', () => {
  for (const [invariant, name, planted, seq] of records) {
    it(`${invariant}: ${name}`, () => {
      expect(findings(planted)).toContain(`${invariant}@${seq}`)
    })
  }
  for (const [invariant, name, steps, place] of drafted) {
    it(`${invariant}: ${name}`, () => expectPlanted(steps, invariant, place))
  }

  it('allows free text of exactly 200 characters, counted as people count them', () => {
    const text = '𝒳'.repeat(200)
    expect(findings(buildLog(altered(supersedeTrace, ['task.cancelling'], { reason: text })))).toEqual([])
  })

  it('INV-07: cursors increase over sessions when facts come as the bus has them', () => {
    const checker = createLogChecker({ order: 'cursor' })
    for (const fact of buildLog(queueLog, { session: 'a' })) checker.push(fact)
    checker.push({
      ...(buildLog([[{ type: 'session.opened', data: settingsOf() }]], { session: 'b' })[0] as StoredFact),
    })
    expect(checker.end().violations.map(({ invariant, seq, session }) => [invariant, seq, session])).toEqual([
      ['INV-07', 1, 'b'],
    ])
  })

  it('keeps sessions of the same name apart', () => {
    const mine = buildLog(closeLog)
    const theirs = buildLog([...queueLog, []]).map((fact) => ({ ...fact, user: 'other' }))
    const { violations } = checkLog([...mine, ...theirs])
    // The other scope is hashed with each fact, so only the chain of the renamed session is broken.
    expect(new Set(violations.map((each) => each.invariant))).toEqual(new Set(['INV-09']))
    expect(violations).toHaveLength(queueLog.length)
  })
})

function settingsOf() {
  const first = buildLog(queueLog)[0]
  if (first?.type !== 'session.opened') throw new Error('a log begins with session.opened')
  return first.data
}

const logs = [supersedeTrace, interruptTrace, crashTrace, requestsLog, steeringLog, ...Object.values(validLogs)].map(
  (steps) => buildLog(steps),
)

const envelopeFields =
  'id seq step at tenant user session task run call type data by cause command owner prev hash v'.split(' ')

/** One record of a log is deleted (not the last), swapped with its neighbour, altered in one field, or its data is cut. */
function tamper(log: readonly StoredFact[], how: string, at: number, text: string): StoredFact[] {
  const index = at % (log.length - 1)
  const [fact, next] = log.slice(index, index + 2)
  if (fact === undefined || next === undefined) throw new Error('a log of two facts at least')
  if (how === 'delete') return log.toSpliced(index, 1)
  if (how === 'swap') return log.toSpliced(index, 2, next, fact)
  const field = envelopeFields[at % envelopeFields.length] ?? 'data'
  return changed(log, fact.seq, how === 'cut' ? { data: cut(fact.data, text) } : { [field]: text })
}

function cut(data: object, text: string): object {
  const kept = Object.entries(data).slice(1)
  return kept.length === Object.keys(data).length ? { added: text } : Object.fromEntries(kept)
}

describe('tampering', () => {
  it('is always found when one record is deleted, swapped, altered or cut', { timeout: 60_000 }, () => {
    const how = fc.constantFrom('delete', 'swap', 'alter', 'cut')
    const run = fc.property(fc.constantFrom(...logs), how, fc.nat(10_000), fc.string(), (log, kind, at, text) => {
      const tampered = tamper(log, kind, at, text)
      fc.pre(canonical(tampered) !== canonical(log))
      const found = checkLog(tampered).violations.map((each) => each.invariant)
      expect(found.some((invariant) => invariant === 'INV-07' || invariant === 'INV-09')).toBe(true)
    })
    fc.assert(run, { seed: 20_260_101, numRuns: 600 })
  })

  it('is found inside every digest of every record', () => {
    const log = buildLog(supersedeTrace)
    for (const fact of log) {
      const text = JSON.stringify(fact.data)
      if (!text.includes(digest)) continue
      const data = JSON.parse(text.replace(digest, digest.replace('ab', 'ac')))
      expect(findings(changed(log, fact.seq, { data }))).toHaveLength(1)
    }
  })
})
