import { describe, expect, it } from 'vitest'
import { isFact } from '../../src/bus/events.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { busOf, collect, cursors, delta, rest, resumeOf, take } from './consumers.ts'
import { SessionWriter, scopeS } from './session-writer.ts'

const messages = (count: number) => Array.from({ length: count }, () => 'message.added' as const)
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe('a slow iterator', () => {
  it('gets one notice in the place of what it lost, and everything when it resumes there', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    const slow = bus.events(scopeS)[Symbol.asyncIterator]()
    const quick = collect(bus.events(scopeS))
    await rest()
    for (let step = 0; step < 100; step += 1) bus.committed(await writer.write(messages(4)))
    expect(cursors(quick.events)).toEqual(upTo(400))
    const [notice, ...facts] = await take(slow, 257)
    expect(notice).toEqual({ type: 'bus.dropped', from: 1, to: 144, count: 144, resume: `${await log.epoch()}-0` })
    expect(cursors(facts)).toEqual(upTo(400, 145))
    const again = collect(bus.events(scopeS, { after: resumeOf(notice) }))
    await rest()
    expect(cursors(again.events)).toEqual(upTo(400))
  })

  it('takes what has come already without waiting, in the order in which `next` would', async () => {
    const log = memoryLog()
    const bus = busOf(log, { subscriberBufferEvents: 8 })
    const writer = new SessionWriter(log)
    const slow = bus.events(scopeS, { after: 'now' })[Symbol.asyncIterator]()
    await rest()
    expect(slow.takeNow()).toBeUndefined()
    const waiting = slow.next()
    for (let step = 1; step <= 3; step += 1) bus.committed(await writer.write(messages(1)))
    const [first, second] = [(await waiting).value, slow.takeNow()]
    const third = (await slow.next()).value
    const got = [first, second, third].flatMap((event) => (event === undefined ? [] : [event]))
    expect(cursors(got)).toEqual([1, 2, 3])
    expect(slow.takeNow()).toBeUndefined()
    for (let step = 4; step <= 23; step += 1) bus.committed(await writer.write(messages(1)))
    expect(slow.takeNow()).toMatchObject({ type: 'bus.dropped', from: 4, to: 15, count: 12 })
    await slow.return?.()
    expect(slow.takeNow()).toBeUndefined()
  })

  it('takes up with the stream again behind the notice', async () => {
    const log = memoryLog()
    const bus = busOf(log, { subscriberBufferEvents: 2 })
    const writer = new SessionWriter(log)
    const slow = bus.events(scopeS, { after: 'now', ephemeral: true })[Symbol.asyncIterator]()
    await rest()
    for (let step = 1; step <= 4; step += 1) {
      bus.committed(await writer.write(messages(1)))
      bus.ephemeral(delta(step, 0))
    }
    expect(cursors(await take(slow, 3))).toEqual(['bus.dropped', 3, 4])
    const waiting = slow.next()
    bus.ephemeral(delta(4, 1))
    expect(await waiting).toMatchObject({ value: { type: 'model.delta', index: 1 } })
    bus.committed(await writer.write(messages(1)))
    bus.ephemeral(delta(5, 0))
    expect(cursors(await take(slow, 2))).toEqual([5, 'model.delta'])
  })

  it('loses nothing of replay, however late it reads', async () => {
    for (const subscriberBufferEvents of [1, 4, 256]) {
      const log = memoryLog()
      const bus = busOf(log, { subscriberBufferEvents })
      const writer = new SessionWriter(log)
      await writer.write(messages(300))
      for (let step = 0; step < 150; step += 1) await writer.write(messages(2))
      const slow = bus.events(scopeS)[Symbol.asyncIterator]()
      const seen = []
      for (let at = 1; at <= 600; at += 1) {
        if (at % 50 === 0) await rest()
        seen.push(...(await take(slow, 1)))
      }
      expect(cursors(seen)).toEqual(upTo(600))
      bus.committed(await writer.write(messages(1)))
      expect(cursors(await take(slow, 1))).toEqual([601])
      await slow.return?.()
    }
  })

  it('meets facts that are committed while it replays exactly once', async () => {
    const log = memoryLog()
    const bus = busOf(log, { subscriberBufferEvents: 8 })
    const writer = new SessionWriter(log)
    for (let step = 0; step < 200; step += 1) await writer.write(messages(2))
    const seen = []
    for await (const event of bus.events(scopeS)) {
      seen.push(event)
      if (seen.length % 7 === 0 && seen.length < 300) bus.committed(await writer.write(messages(1)))
      if (isFact(event) && event.cursor >= 442) break
    }
    expect(cursors(seen)).toEqual(upTo(442))
  })
})

describe('an iterator', () => {
  it('answers calls of next in order, and refuses more than it could ever buffer', async () => {
    const log = memoryLog()
    const bus = busOf(log, { subscriberBufferEvents: 2 })
    const iterator = bus.events(scopeS)[Symbol.asyncIterator]()
    const first = iterator.next()
    const second = iterator.next()
    await expect(iterator.next()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    bus.committed(await new SessionWriter(log).write(messages(2)))
    expect(await first).toMatchObject({ value: { cursor: 1 } })
    expect(await second).toMatchObject({ value: { cursor: 2 } })
  })

  it('settles every waiting call when it is returned', async () => {
    const bus = busOf(memoryLog())
    const iterator = bus.events(scopeS)[Symbol.asyncIterator]()
    const calls = [iterator.next(), iterator.next()]
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
    for (const call of [...calls, iterator.next()]) expect(await call).toEqual({ done: true, value: undefined })
    expect(bus.subscribers).toBe(0)
  })

  it('gives what it has before the failure of its stream, and the failure once', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const iterator = bus.events(scopeS)[Symbol.asyncIterator]()
    await rest()
    bus.committed(await new SessionWriter(log).write(messages(1)))
    await log.close()
    const broken = bus.events(scopeS, { after: `${await log.epoch()}-0` })[Symbol.asyncIterator]()
    await expect(broken.next()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    expect(await broken.next()).toEqual({ done: true, value: undefined })
    expect(cursors(await take(iterator, 1))).toEqual([1])
  })
})
