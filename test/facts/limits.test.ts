import { expect, test } from 'vitest'
import { hostMayRaise, type LimitName, limits, resolveLimits } from '../../src/facts/limits.ts'

test('every bound has a unit or a countable thing in its name and is a whole number', () => {
  for (const [name, value] of Object.entries(limits)) {
    expect(name).toMatch(
      /(Ms|Bytes|Chars|Items|Tokens|Facts|Events|Files|Processes|Attempts|Calls|Denials|Failures|Depth|PerTask|PerSession|PerTurn|PerStep|InFlight)$/,
    )
    expect(Number.isSafeInteger(value)).toBe(true)
  }
})

test('a host may lower any bound', () => {
  for (const name of Object.keys(limits) as LimitName[]) {
    const lowered = Math.max(1, limits[name] - 1)
    expect(resolveLimits({ [name]: lowered })[name]).toBe(lowered)
  }
})

test('only marked bounds may be raised', () => {
  for (const name of Object.keys(limits) as LimitName[]) {
    const raise = () => resolveLimits({ [name]: limits[name] + 1 })[name]
    if (hostMayRaise.has(name)) expect(raise()).toBe(limits[name] + 1)
    else expect(raise).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  }
})

test('grace may be 0 and may be raised', () => {
  expect(resolveLimits({ graceMs: 0 }).graceMs).toBe(0)
  expect(resolveLimits({ graceMs: 60_000 }).graceMs).toBe(60_000)
})

test.each([
  [{ graceSeconds: 1 }],
  [{ toString: 1 }],
  [{ graceMs: -1 }],
  [{ graceMs: 0.5 }],
  [{ graceMs: Number.NaN }],
  [{ parallelCalls: 0 }],
])('%j is refused', (overrides: Record<string, number>) => {
  expect(() => resolveLimits(overrides)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})

test('an absent override changes nothing', () => {
  expect(resolveLimits({ graceMs: undefined })).toEqual(limits)
})
