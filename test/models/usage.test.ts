import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimatedUsage, normaliseUsage } from '../../src/models/usage.ts'

const bytes = { request: 401, received: 9 }

describe('usage', () => {
  it('is estimated from bytes when the provider does not count', () => {
    const estimate = { input: 101, output: 3, total: 104, estimated: true }
    expect(estimatedUsage(bytes)).toEqual(estimate)
    expect(normaliseUsage(undefined, bytes)).toEqual(estimate)
    expect(normaliseUsage({ input: Number.NaN, output: -1 }, bytes)).toEqual(estimate)
  })

  it('is marked when a part of it is estimated', () => {
    expect(normaliseUsage({ input: 50 }, bytes)).toEqual({ input: 50, output: 3, total: 53, estimated: true })
  })

  it('keeps cached and reasoning tokens that are inside', () => {
    expect(normaliseUsage({ input: 100, output: 20, total: 120, cached: 80, reasoning: 5 }, bytes)).toEqual({
      input: 100,
      output: 20,
      total: 120,
      cached: 80,
      reasoning: 5,
    })
    expect(normaliseUsage({ input: 100, output: 20, cached: 80 }, bytes).total).toBe(120)
  })

  it('adds those that stand beside', () => {
    expect(normaliseUsage({ input: 20, output: 20, total: 120, cached: 80 }, bytes)).toMatchObject({
      input: 100,
      total: 120,
    })
    expect(normaliseUsage({ input: 100, output: 20, total: 180, cached: 50, reasoning: 60 }, bytes)).toMatchObject({
      input: 100,
      output: 80,
      total: 180,
    })
    expect(normaliseUsage({ input: 20, output: 5, cached: 80, reasoning: 30 }, bytes)).toMatchObject({
      input: 100,
      output: 35,
    })
  })

  it('never counts less than the provider said', () => {
    expect(normaliseUsage({ input: 10, output: 5, total: 40 }, bytes).total).toBe(40)
    expect(normaliseUsage({ input: 10, output: 5, total: 3 }, bytes).total).toBe(15)
  })

  it('always adds up', () => {
    const count = fc.option(fc.nat(10_000), { nil: undefined })
    const raw = fc.record({ input: count, output: count, total: count, cached: count, reasoning: count })
    fc.assert(
      fc.property(raw, (said) => {
        const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
        const usage = normaliseUsage(given, bytes)
        expect(usage.total).toBeGreaterThanOrEqual(usage.input + usage.output)
        expect(usage.input).toBeGreaterThanOrEqual(usage.cached ?? 0)
        expect(usage.output).toBeGreaterThanOrEqual(usage.reasoning ?? 0)
      }),
      { seed: 7, numRuns: 500 },
    )
  })
})
