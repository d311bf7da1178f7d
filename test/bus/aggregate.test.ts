import { describe, expect, it } from 'vitest'
import { aggregate } from '../../src/bus/aggregate.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { SessionWriter, scopeS } from './session-writer.ts'

const now = Date.parse('2026-01-01T01:00:00.000Z')
const at = (secondsAgo: number) => ({ at: new Date(now - secondsAgo * 1_000).toISOString() })

describe('aggregate', () => {
  it('counts the facts of a session in contiguous buckets that end now, empty ones too', async () => {
    const log = memoryLog()
    const writer = new SessionWriter(log)
    await writer.write(['session.opened'], at(60))
    await writer.write(['task.created', 'task.started'], at(59.999))
    await writer.write(['message.added'], at(30))
    await writer.write(['message.added', 'message.added'], at(0))
    await writer.write(['message.added'], at(-1))
    await new SessionWriter(log, { ...scopeS, user: 'u2' }).write(['session.opened'], at(1))
    const window = { windowMs: 60_000, bucketMs: 10_000, now }
    const buckets = await aggregate(log, scopeS, window)
    expect(buckets.map((bucket) => bucket.count)).toEqual([2, 0, 1, 0, 0, 2])
    expect(buckets[0]).toMatchObject({ from: '2026-01-01T00:59:00.000Z', to: '2026-01-01T00:59:10.000Z' })
    expect(buckets.slice(1).map((bucket) => bucket.from)).toEqual(buckets.slice(0, -1).map((bucket) => bucket.to))
    expect(buckets.at(-1)?.to).toBe('2026-01-01T01:00:00.000Z')
    const typed = await aggregate(log, scopeS, { ...window, types: ['task.created'] })
    expect(typed.map((bucket) => bucket.count)).toEqual([1, 0, 0, 0, 0, 0])
    const uneven = await aggregate(log, scopeS, { ...window, windowMs: 25_000 })
    expect(uneven.map(({ from, count }) => [from.slice(17, 19), count])).toEqual([
      ['35', 0],
      ['40', 0],
      ['50', 2],
    ])
  })

  it('reads long sessions from their end, and no further than it must', async () => {
    const log = memoryLog()
    const writer = new SessionWriter(log)
    const many = Array.from({ length: 100 }, () => 'message.added' as const)
    for (let step = 0; step < 40; step += 1) await writer.write(many, at(step < 20 ? 1_000 : 5))
    let steps = 0
    const read = log.read.bind(log)
    log.read = async (scope, range) => {
      const page = await read(scope, range)
      steps += page.length
      return page
    }
    const buckets = await aggregate(log, scopeS, { windowMs: 10_000, bucketMs: 10_000, now })
    expect(buckets.map((bucket) => bucket.count)).toEqual([2_000])
    expect(steps).toBeLessThan(160)
    const whole = await aggregate(log, scopeS, { windowMs: 2_000_000, bucketMs: 1_000_000, now })
    expect(whole.map((bucket) => bucket.count)).toEqual([2_000, 2_000])
  })

  it('gives empty buckets for a session that was never opened, and refuses what it cannot do', async () => {
    const log = memoryLog()
    const buckets = await aggregate(log, scopeS, { windowMs: 2, bucketMs: 1, now })
    expect(buckets.map((bucket) => bucket.count)).toEqual([0, 0])
    const window = { windowMs: 1_000, bucketMs: 10, now }
    const refusals = [
      [{ tenant: 't' }, window, 'IDENTITY_REQUIRED'],
      [scopeS, { ...window, bucketMs: 0 }, 'INVALID_INPUT'],
      [scopeS, { ...window, windowMs: 1.5 }, 'INVALID_INPUT'],
      [scopeS, { ...window, types: ['nonsense'] }, 'INVALID_INPUT'],
      [scopeS, { ...window, windowMs: 10_001 }, 'LIMIT_EXCEEDED'],
    ] as const
    for (const [scope, options, code] of refusals) {
      await expect(aggregate(log, scope, options)).rejects.toMatchObject({ code })
    }
  })
})
