import { describe, expect, it } from 'vitest'
import { createBus } from '../../src/bus/bus.ts'
import { LandfallError } from '../../src/facts/errors.ts'
import { type Limits, limits } from '../../src/facts/limits.ts'
import type { Log, StoredStep } from '../../src/facts/log-port.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { manualTime } from '../models/manual-time.ts'
import { collect, cursors, delta } from './consumers.ts'
import { SessionWriter, scopeS } from './session-writer.ts'

const otherScope = { ...scopeS, session: 's2' }

/** A bus over a log some of whose answers are others, in time that stands still until it is advanced. */
function setUp(change: (log: Log) => Partial<Log> = () => ({}), lowered: Partial<Limits> = {}) {
  const time = manualTime()
  const store = memoryLog({ scheduler: time, clock: time })
  const changed = change(store)
  const log = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(Object.hasOwn(changed, name) ? changed : target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const bus = createBus({ log, scheduler: time, clock: time, limits: { ...limits, ...lowered } })
  return { bus, time, writer: new SessionWriter(store), other: new SessionWriter(store, otherScope) }
}

/** No notice of commits at all. */
const deaf = { watch: () => () => {} }

describe('order', () => {
  it('lets an own step wait for a lower one of another process, and what belongs to it wait behind', async () => {
    const { bus, time, writer } = setUp(() => deaf)
    const seen = collect(bus.events(scopeS, { ephemeral: true }))
    await time.advance(0)
    await writer.write(['session.opened'])
    const [second, third] = [await writer.write(['task.created']), await writer.write(['task.started'])]
    bus.committed(second)
    bus.ephemeral(delta(2, 0))
    bus.committed(third)
    bus.ephemeral(delta(3, 0))
    expect(seen.events).toEqual([])
    await time.advance(0)
    expect(cursors(seen.events)).toEqual([1, 2, 'model.delta', 3, 'model.delta'])
  })

  it('closes a gap without reading when the missing step is told of', async () => {
    let reads = 0
    const { bus, time, writer } = setUp((log) => ({
      ...deaf,
      tail: (after, limit) => {
        reads += 1
        return log.tail(after, limit)
      },
    }))
    const seen = collect(bus.events(scopeS))
    await time.advance(0)
    const first = await writer.write(['session.opened'])
    const second = await writer.write(['task.created'])
    const before = reads
    bus.committed(second)
    bus.committed(first)
    bus.committed(first)
    expect(cursors(seen.events)).toEqual([1, 2])
    expect(reads).toBe(before)
  })

  it('does not wait for a cursor that no step ever gets', async () => {
    const sparse = (step: StoredStep): StoredStep => ({ ...step, cursor: step.cursor * 10 })
    const { bus, time, writer } = setUp((log) => ({
      ...deaf,
      lastCursor: async () => (await log.lastCursor()) * 10,
      tail: async (after, limit) => (await log.tail(Math.floor(after / 10), limit)).map(sparse),
      read: async () => [],
    }))
    const seen = collect(bus.events(scopeS, { after: 'now' }))
    await time.advance(0)
    for (const type of ['session.opened', 'task.created'] as const) {
      bus.committed((await writer.write([type])).map((fact) => ({ ...fact, cursor: fact.cursor * 10 })))
    }
    await time.advance(0)
    expect(cursors(seen.events)).toEqual([10, 20])
    expect(time.pending()).toBe(0)
  })

  it('asks again for a step that the tail does not show yet', async () => {
    let hidden = true
    const { bus, time, writer, other } = setUp((log) => ({
      ...deaf,
      tail: async (after, limit) => (hidden ? [] : log.tail(after, limit)),
    }))
    const seen = collect(bus.events(scopeS))
    await time.advance(0)
    await other.write(['session.opened'])
    bus.committed(await writer.write(['session.opened']))
    bus.ephemeral(delta(1, 0))
    await time.advance(5_000)
    expect(seen.events).toEqual([])
    hidden = false
    await time.advance(1_000)
    expect(cursors(seen.events)).toEqual([2])
    expect(time.pending()).toBe(0)
  })

  it('holds no more than its bound, and loses nothing by that', async () => {
    const { bus, time, writer, other } = setUp(() => deaf, { batchFacts: 3 })
    const seen = collect(bus.events(scopeS))
    await time.advance(0)
    await other.write(['session.opened'])
    for (let step = 0; step < 5; step += 1) bus.committed(await writer.write(['message.added', 'message.added']))
    await time.advance(0)
    expect(cursors(seen.events)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it("gives a subscriber of 'now' what was committed while the store still answered", async () => {
    let answer = (): void => {}
    const { bus, time, writer } = setUp((log) => ({
      ...deaf,
      lastCursor: () =>
        new Promise((resolve) => {
          answer = () => resolve(log.lastCursor())
        }),
    }))
    await writer.write(['session.opened'])
    const seen = collect(bus.events(scopeS, { after: 'now' }))
    bus.committed(await writer.write(['task.created']))
    bus.committed(await writer.write(['task.started']))
    answer()
    await time.advance(0)
    expect(cursors(seen.events)).toEqual([2, 3])
  })

  it('has no hole where a commit falls between the last read of replay and its answer', async () => {
    let answer = (): void => {}
    const { bus, time, writer } = setUp((log) => ({
      ...deaf,
      read: async (scope, range) => {
        const steps = await log.read(scope, range)
        await new Promise<void>((resolve) => {
          answer = resolve
        })
        return steps
      },
    }))
    await writer.write(['session.opened'])
    const seen = collect(bus.events(scopeS))
    await time.advance(0)
    bus.committed(await writer.write(['task.created']))
    answer()
    await time.advance(0)
    expect(cursors(seen.events)).toEqual([1, 2])
  })
})

describe('trouble with the store', () => {
  const busy = () => new LandfallError('STORE_BUSY', 'Try again.', { retryable: true })

  it('of the passing kind is tried again', async () => {
    let failures = 3
    const { bus, time, writer } = setUp((log) => ({
      tail: (after, limit) => {
        failures -= 1
        return failures >= 0 ? Promise.reject(busy()) : log.tail(after, limit)
      },
    }))
    const seen = collect(bus.events(scopeS))
    await time.advance(0)
    await writer.write(['session.opened'])
    await time.advance(1_000)
    expect(cursors(seen.events)).toEqual([1])
    expect(seen.ended.how).toBe(null)
  })

  it.each([
    ['that does not pass', busy],
    ['of the lasting kind', () => new LandfallError('LOG_CORRUPT', 'Restore the store.')],
  ])('%s ends the streams, and the next subscription starts anew', async (_what, trouble) => {
    let broken = true
    const { bus, time, writer } = setUp((log) => ({
      tail: (after, limit) => (broken ? Promise.reject(trouble()) : log.tail(after, limit)),
    }))
    const seen = collect(bus.events(scopeS))
    await time.advance(10_000)
    expect(seen.ended.error).toMatchObject({ code: trouble().code })
    expect([bus.subscribers, time.pending()]).toEqual([0, 0])
    broken = false
    const again = collect(bus.events(scopeS))
    await time.advance(0)
    await writer.write(['session.opened'])
    await time.advance(0)
    expect(cursors(again.events)).toEqual([1])
  })

  it('at the start ends the stream that started it', async () => {
    const { bus, time } = setUp(() => ({ epoch: () => Promise.reject(busy()) }))
    const seen = collect(bus.events(scopeS, { after: 'now' }))
    await time.advance(0)
    expect(seen.ended.error).toMatchObject({ code: 'STORE_BUSY' })
    expect(bus.subscribers).toBe(0)
  })

  it('in one session ends the streams of that session alone', async () => {
    const { bus, time, writer, other } = setUp((log) => ({
      tail: async (after, limit) =>
        (await log.tail(after, limit)).map((step) => (step.scope.session === 's2' ? { ...step, body: '[' } : step)),
    }))
    const sound = collect(bus.events(scopeS))
    const damaged = collect(bus.events(otherScope))
    const wide = collect(bus.eventsWide({ tenant: 't' }))
    await time.advance(0)
    await other.write(['session.opened'])
    await writer.write(['session.opened'])
    await time.advance(0)
    expect(cursors(sound.events)).toEqual([2])
    for (const each of [damaged, wide]) expect(each.ended.error).toMatchObject({ code: 'LOG_CORRUPT' })
    expect(bus.subscribers).toBe(1)
  })
})
