import { expect, test } from 'vitest'
import type { z } from 'zod'
import type { FactData, FactType } from '../../machines/facts.ts'
import { dataProblem, factCatalogue, factSchema, factSchemas } from '../../src/facts/schemas.ts'
import { sampleData } from './sample-facts.ts'

/** Makes presence visible to assignability: an optional field that one side lacks would otherwise be assignable. */
type Solid<T> = T extends readonly (infer U)[]
  ? readonly Solid<U>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Solid<T[K]> | (Record<never, never> extends Pick<T, K> ? 'may be absent' : never) }
    : T

type Inferred = { [T in keyof typeof factSchemas]: z.infer<(typeof factSchemas)[T]> }
type Differs<A, B> = [Solid<A>] extends [Solid<B>]
  ? [Solid<B>] extends [Solid<A>]
    ? never
    : 'schema is wider'
  : 'schema is narrower'
type Mismatch = {
  [T in FactType | keyof Inferred]: T extends keyof Inferred
    ? T extends FactType
      ? Differs<FactData[T], Inferred[T]>
      : 'no such fact'
    : 'no schema'
}
type Mismatches = { [T in keyof Mismatch as [Mismatch[T]] extends [never] ? never : T]: Mismatch[T] }

test('schemas and fact types agree in both directions', () => {
  // Compiles only while nothing differs: a mismatch becomes a required property here.
  const mismatches: Mismatches = {}
  expect(mismatches).toEqual({})
})

test.each(Object.keys(factSchemas) as FactType[])('%s takes its sample and refuses an extra field', (type) => {
  expect(dataProblem(type, sampleData[type])).toBeNull()
  expect(dataProblem(type, { ...sampleData[type], extra: 1 })).toMatch(/unrecognized_keys/)
})

test.each([
  ['call.held', { reason: 'weather' }],
  ['session.closed', { reason: 'x'.repeat(201) }],
  ['task.quiescing', { calls: ['not-a-ulid'] }],
  ['call.late', { outcome: 'succeeded', digest: `sha256:${'0'.repeat(64)}` }],
  ['call.verifying', { deadline: '2026-01-01' }],
  ['run.resumed', { attempt: -1, reason: 'crash' }],
  ['call.held', { reason: 'approval', token: undefined }],
] as const)('%s refuses %j', (type, data) => {
  expect(dataProblem(type, data)).not.toBeNull()
})

test('free text is counted in characters, not in code units', () => {
  expect(dataProblem('session.closed', { reason: '😀'.repeat(200) })).toBeNull()
  expect(dataProblem('session.closed', { reason: '😀'.repeat(201) })).not.toBeNull()
})

test('the catalogue lists every type with its fields', () => {
  const catalogue = factCatalogue()
  expect(catalogue.map((entry) => entry.type).sort()).toEqual(Object.keys(sampleData).sort())
  expect(catalogue.find((entry) => entry.type === 'call.held')?.fields).toEqual([
    { name: 'reason', optional: false },
    { name: 'token', optional: true },
  ])
  expect(catalogue.find((entry) => entry.type === 'task.unblocked')?.fields).toEqual([])
})

test('the union of all facts is discriminated by type', () => {
  expect(factSchema().safeParse({ type: 'nothing.such' }).error?.issues[0]?.code).toBe('invalid_union')
})
