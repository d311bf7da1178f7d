import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalText } from '../../src/facts/canonical-text.ts'
import { chainText, hashStep, zeroHash } from '../../src/facts/chain.ts'
import { isStepIntact, packStep, sealStep, unpackStep } from '../../src/facts/codec.ts'
import type { UnchainedFact } from '../../src/facts/envelope.ts'
import type { StoredStep } from '../../src/facts/log-port.ts'
import { sampleDigest, sampleFact, sampleId } from './sample-facts.ts'

/** The package is CommonJS with a default export in its types only. */
const reference: unknown = canonicalize
function referenceText(value: unknown): unknown {
  if (typeof reference !== 'function') throw new TypeError('canonicalize is not callable')
  return reference(value)
}

const oddString = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', '\udc00x', '\u2028', '"\\', '\u0000', '__proto__', 'é', 'e\u0301', '😀', '10', '9'),
)
const oddNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 1e21, 1e-7, 5e-324, 2 ** 53),
)
const oddJson = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    oddString,
    oddNumber,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(oddString, tie('node'), { maxKeys: 5 }),
  ),
})).node

const nullableText = fc.oneof(fc.constant(null), fc.constantFrom(sampleId(1), sampleId(2), 'other'), oddString)
const oddFact = fc.record({
  id: fc.oneof(fc.constantFrom(sampleId(7), sampleId(8), sampleId(10)), oddString),
  at: fc.oneof(fc.constant('2026-01-01T00:00:00.000Z'), oddString),
  task: nullableText,
  run: nullableText,
  call: nullableText,
  cause: nullableText,
  command: nullableText,
  type: fc.oneof(fc.constant('call.started'), oddString),
  by: fc.record({ kind: fc.constantFrom('operator', 'runtime'), id: fc.constantFrom('a', 'b', '"') }),
  data: fc.dictionary(oddString, oddJson, { maxKeys: 5 }),
})
const oddStep = fc
  .record({
    scope: fc.record({ tenant: oddString, user: oddString, session: oddString }),
    owner: fc.record({ id: oddString, epoch: fc.nat() }),
    step: fc.integer({ min: 1, max: 99 }),
    firstSeq: fc.integer({ min: 1, max: 9_999 }),
    facts: fc.array(oddFact, { minLength: 1, maxLength: 6 }),
  })
  .map(({ scope, owner, step, firstSeq, facts }) =>
    facts.map((fact, i) => ({ v: 1, ...scope, owner, step, seq: firstSeq + i, ...fact }) as UnchainedFact),
  )

function stored(facts: readonly UnchainedFact[], cursor = 100): StoredStep {
  const first = facts[0] as UnchainedFact
  const { tenant, user, session, step, seq } = first
  const sealed = sealStep(zeroHash, facts)
  return {
    scope: { tenant, user, session },
    step,
    firstSeq: seq,
    count: facts.length,
    cursor,
    prev: zeroHash,
    ...sealed,
  }
}

const turn = [
  sampleFact('message.added', 4, 2),
  sampleFact('call.requested', 5, 2),
  sampleFact('call.started', 6, 2),
  sampleFact('model.completed', 7, 2),
]

test('canonical text equals RFC 8785 as the canonicalize package writes it', () => {
  fc.assert(
    fc.property(oddJson, (value) => {
      expect(canonicalText(value)).toBe(referenceText(value))
    }),
  )
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined, 1n])('%s has no canonical form', (value) => {
  expect(() => canonicalText(value)).toThrow(TypeError)
})

test('the chain text is the canonical JSON of prev and facts', () => {
  fc.assert(
    fc.property(oddStep, (facts) => {
      expect(chainText(zeroHash, facts)).toBe(referenceText({ prev: zeroHash, facts }))
    }),
  )
})

test('a hash is of a fixed form that released logs rely on', () => {
  const facts = [{ ...sampleFact('call.held', 1, 1), by: { kind: 'operator', id: 'ann' } } as UnchainedFact]
  expect(hashStep(zeroHash, facts)).toBe('9025f7f47370d66d4ec73fc7409a68106795c1f62fdb9e0252bcd56cbb02b924')
})

test('what is packed is unpacked, whatever the strings and numbers', () => {
  fc.assert(
    fc.property(oddStep, (facts) => {
      const step = stored(facts)
      const back = unpackStep(step, { validate: false })
      expect(back.map(({ cursor, prev, hash, ...fact }) => fact)).toEqual(JSON.parse(JSON.stringify(facts)))
      expect(isStepIntact(step)).toBe(true)
    }),
  )
})

test('unpacked facts have cursors, chain and the printed key order', () => {
  const facts = unpackStep(stored(turn))
  expect(facts.map((fact) => fact.cursor)).toEqual([97, 98, 99, 100])
  expect(Object.keys(facts[0] as object).join(' ')).toBe(
    'v id cursor seq step at tenant user session task run call type data by cause command owner prev hash',
  )
  expect(new Set(facts.map((fact) => fact.prev))).toEqual(new Set([zeroHash]))
  expect(facts.map((fact) => fact.call)).toEqual([null, sampleId(31), sampleId(31), null])
})

test('a body costs little beyond its data', () => {
  const data = turn.reduce((sum, fact) => sum + canonicalText(fact.data).length, 0)
  expect((packStep(turn).length - data) / turn.length).toBeLessThan(100)
})

test('a changed fact is not intact', () => {
  const step = stored(turn)
  expect(isStepIntact({ ...step, body: step.body.replace(sampleDigest, sampleDigest.replace('ab', 'cd')) })).toBe(false)
  expect(isStepIntact({ ...step, firstSeq: 5 })).toBe(false)
})

test.each([
  ['not JSON', (step: StoredStep) => ({ ...step, body: '[1,' })],
  ['a body of another form', (step: StoredStep) => ({ ...step, body: step.body.replace('[1,', '[9,') })],
  ['a wrong count', (step: StoredStep) => ({ ...step, count: 3 })],
  ['an unknown type', (step: StoredStep) => ({ ...step, body: step.body.replace('call.started', 'call.begun') })],
  [
    'data that breaks its schema',
    (step: StoredStep) => ({ ...step, body: step.body.replace('"attempt":1', '"attempt":"1"') }),
  ],
  ['a reference to nothing', (step: StoredStep) => ({ ...step, body: step.body.replace('"k":0', '"k":77') })],
  ['a fact that is no array', (step: StoredStep) => ({ ...step, count: 1, body: '[1,"x",["o",1],{}]' })],
])('%s is LOG_CORRUPT with session and seq', (_, damage) => {
  const step = damage(stored(turn))
  expect(() => unpackStep(step)).toThrow(
    expect.objectContaining({
      code: 'LOG_CORRUPT',
      details: expect.objectContaining({ session: 's', seq: expect.any(Number) }),
    }),
  )
})

test('facts of one step must belong together', () => {
  expect(() => packStep([])).toThrow(/without facts/)
  expect(() => packStep([sampleFact('call.held', 1, 1), sampleFact('call.held', 3, 1)])).toThrow(/one step/)
})

test('a fact beyond its bound is refused, not cut', () => {
  const huge = {
    ...sampleFact('pause.requested', 1, 1),
    data: { token: 't', reason: 'input', subject: 'x'.repeat(70_000) },
  }
  expect(() => packStep([huge as UnchainedFact])).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }))
})

test('upcasters bring old facts to the present form on reading, and the chain stays that of what was written', () => {
  const old = { ...sampleFact('call.held', 1, 1), type: 'call.parked', data: { because: 'approval' } } as unknown
  const step = stored([old as UnchainedFact])
  const upcasters = new Map([
    [
      'call.parked@1',
      (fact: { v: number; data: unknown }) => ({
        type: 'call.held',
        v: 1,
        data: { reason: (fact.data as { because: string }).because },
      }),
    ],
  ])
  expect(() => unpackStep(step)).toThrow(expect.objectContaining({ code: 'LOG_CORRUPT' }))
  expect(unpackStep(step, { upcasters })[0]).toMatchObject({ type: 'call.held', data: { reason: 'approval' }, seq: 1 })
  expect(isStepIntact(step)).toBe(true)
})

test('upcasters that go in a circle are a loud fault', () => {
  const upcasters = new Map([['call.held@1', (fact: { type: string; v: number; data: unknown }) => fact]])
  expect(() => unpackStep(stored([sampleFact('call.held', 1, 1)]), { upcasters })).toThrow(RangeError)
})
