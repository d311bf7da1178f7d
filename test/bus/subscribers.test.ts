import { describe, expect, it } from 'vitest'
import { createBus } from '../../src/bus/bus.ts'
import { isFact } from '../../src/bus/events.ts'
import { limits } from '../../src/facts/limits.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { countedLoop } from '../facts/counted-loop.ts'
import { busOf, collect, cursors, rest, take } from './consumers.ts'
import { SessionWriter, scopeS } from './session-writer.ts'

describe('bounds and ends of subscriptions', () => {
  it('refuses subscribers over the bound of a session, and takes them again when others left', async () => {
    const bus = busOf(memoryLog(), { subscribersPerSession: 2 })
    const first = collect(bus.events(scopeS))
    const iterator = bus.events(scopeS)[Symbol.asyncIterator]()
    expect(collect(bus.events(scopeS)).ended.error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { bound: 2, got: 3 },
    })
    expect(collect(bus.events({ ...scopeS, session: 's2' })).ended.how).toBe(null)
    first.stop()
    await iterator.return?.()
    collect(bus.events(scopeS))
    expect(collect(bus.events(scopeS)).ended.how).toBe(null)
  })

  it('ends every stream with a notice when it closes, and refuses later ones', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const pushed = collect(bus.events(scopeS))
    const pulled = bus.events(scopeS)[Symbol.asyncIterator]()
    await rest()
    bus.committed(await new SessionWriter(log).write(['session.opened']))
    const waiting = bus.eventsWide({ tenant: 't2' })[Symbol.asyncIterator]().next()
    bus.close('bye')
    expect(cursors(pushed.events)).toEqual([1, 'bus.closed'])
    expect(pushed.ended.how).toBe('complete')
    expect(cursors(await take(pulled, 9))).toEqual([1, 'bus.closed'])
    expect(await pulled.next()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: false, value: { type: 'bus.closed', reason: 'bye' } })
    expect(bus.subscribers).toBe(0)
    expect(collect(bus.events(scopeS)).ended.error).toMatchObject({ code: 'SHUTTING_DOWN' })
  })

  it('ends the streams of one session when told so', async () => {
    const bus = busOf(memoryLog())
    const mine = collect(bus.events(scopeS))
    const other = collect(bus.events({ ...scopeS, session: 's2' }))
    await rest()
    bus.ephemeral({ ...scopeS, type: 'bus.closed', reason: 'erased' })
    expect(mine.events).toEqual([{ type: 'bus.closed', reason: 'erased' }])
    expect([mine.ended.how, other.ended.how, bus.subscribers]).toEqual(['complete', null, 1])
  })

  it('frees the watch of the log with the last subscriber, and starts again with the next', async () => {
    const log = memoryLog()
    let watches = 0
    const watch = log.watch.bind(log)
    log.watch = (listener) => {
      watches += 1
      const unwatch = watch(listener)
      return () => {
        watches -= 1
        unwatch()
      }
    }
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    for (const after of [undefined, 'now', undefined]) {
      const iterator = bus.events(scopeS, { after })[Symbol.asyncIterator]()
      const pushed = collect(bus.events(scopeS, { after }))
      await rest()
      bus.committed(await writer.write(['message.added']))
      expect(watches).toBe(1)
      expect(pushed.events.filter(isFact).at(-1)?.cursor).toBe(writer.facts.length)
      pushed.stop()
      for await (const event of { [Symbol.asyncIterator]: () => iterator }) {
        if (isFact(event) && event.cursor === writer.facts.length) break
      }
      expect([watches, bus.subscribers]).toEqual([0, 0])
    }
    bus.committed(await writer.write(['message.added']))
    const early = collect(bus.events(scopeS))
    early.stop()
    await rest()
    expect([watches, early.events]).toEqual([0, []])
  })

  it('replays to many who come at once in pieces, with turns of the loop in between, and each has every fact', async () => {
    const log = memoryLog()
    await new SessionWriter(log).write(['session.opened', 'session.closing', 'session.closed'])
    let now = 0
    const { scheduler, turn } = countedLoop()
    const readIn = new Map<number, number>()
    const read = log.read.bind(log)
    log.read = (...of) => {
      now += 5
      readIn.set(turn(), (readIn.get(turn()) ?? 0) + 1)
      return read(...of)
    }
    const bus = createBus({ log, limits, scheduler, clock: { now: () => now } })
    const all = Array.from({ length: 100 }, () => collect(bus.events(scopeS)))
    while (all.some(({ events }) => events.length < 3)) await new Promise((resolve) => setImmediate(resolve))
    for (const { events } of all) expect(cursors(events)).toEqual([1, 2, 3])
    expect([...readIn.values()].reduce((sum, count) => sum + count, 0)).toBe(100)
    expect(Math.max(...readIn.values())).toBeLessThanOrEqual(3)
    bus.close('test over')
  })
})
