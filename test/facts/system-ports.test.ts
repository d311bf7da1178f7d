import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock, systemIds, systemRandom, systemScheduler } from '../../src/facts/system-ports.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a timer beyond 2^31-1 ms fires at its time and not before', () => {
  const fired = vi.fn()
  const at = 1_000 + 2 ** 31 + 5_000
  systemScheduler().at(at, fired)
  vi.advanceTimersByTime(2 ** 31 + 4_999)
  expect(fired).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(fired).toHaveBeenCalledTimes(1)
  expect(systemClock.now()).toBe(at)
})

test('a timer that wakes before its time by the clock waits on', () => {
  let behind = 7
  const fired = vi.fn()
  systemScheduler({ clock: { now: () => Date.now() - behind } }).at(1_010, fired)
  behind = 20
  vi.advanceTimersByTime(17)
  expect(fired).not.toHaveBeenCalled()
  vi.advanceTimersByTime(13)
  expect(fired).toHaveBeenCalledTimes(1)
})

test('a cancelled timer does not fire, also after it was armed again', () => {
  const fired = vi.fn()
  const cancel = systemScheduler().at(1_000 + 2 ** 32, fired)
  vi.advanceTimersByTime(2 ** 31)
  cancel()
  vi.advanceTimersByTime(2 ** 32)
  expect(fired).not.toHaveBeenCalled()
})

test('only background timers let the process end', () => {
  vi.useRealTimers()
  const spy = vi.spyOn(globalThis, 'setTimeout')
  const cancels = [systemScheduler().at(systemClock.now() + 60_000, () => {})]
  cancels.push(systemScheduler({ background: true }).at(systemClock.now() + 60_000, () => {}))
  const refs = spy.mock.results.map((result) => (result.value as NodeJS.Timeout).hasRef())
  for (const cancel of cancels) cancel()
  spy.mockRestore()
  expect(refs).toEqual([true, false])
})

test('random numbers are in range and differ, ids differ', () => {
  const numbers = Array.from({ length: 100 }, () => systemRandom.next())
  expect(numbers.every((n) => n >= 0 && n < 1)).toBe(true)
  expect(new Set(numbers).size).toBeGreaterThan(90)
  expect(systemRandom.bytes(32)).toHaveLength(32)
  const ids = systemIds()
  const made = Array.from({ length: 50 }, () => ids.next())
  expect(new Set(made).size).toBe(50)
  expect(made.toSorted()).toEqual(made)
})
