import { config } from 'rxjs'
import { afterEach, describe, expect, it } from 'vitest'
import { isFact } from '../../src/bus/events.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { busOf, collect, cursors, delta, rest } from './consumers.ts'
import { SessionWriter, scopeS } from './session-writer.ts'

afterEach(() => {
  config.onUnhandledError = null
})

describe('a hostile consumer', () => {
  it('that throws breaks nobody, live and in replay', async () => {
    const reported: unknown[] = []
    config.onUnhandledError = (error) => reported.push(error)
    const log = memoryLog()
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    await writer.write(['session.opened'])
    const broken = () => {
      throw new Error('broken consumer')
    }
    bus.events(scopeS).subscribe({ next: broken, complete: broken })
    const seen = collect(bus.events(scopeS))
    await rest()
    bus.committed(await writer.write(['task.created', 'task.started']))
    bus.close()
    expect(cursors(seen.events)).toEqual([1, 2, 3, 'bus.closed'])
    await new Promise((resolve) => setTimeout(resolve))
    expect(reported.length).toBe(5)
  })

  it('cannot change a fact that others, or the writer, read', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const changed: string[] = []
    bus.events(scopeS).subscribe((event) => {
      if (!isFact(event)) return
      for (const part of [event, event.data, event.by, event.owner]) {
        if (!Reflect.set(part, 'id', 'forged')) changed.push('refused')
      }
    })
    const seen = collect(bus.events(scopeS))
    await rest()
    const facts = await new SessionWriter(log).write(['session.opened'])
    bus.committed(facts)
    expect(changed.length).toBe(4)
    expect(seen.events).toMatchObject(facts)
  })

  it('that leaves, joins and publishes from within a delivery keeps one order for all', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    const steps = [await writer.write(['session.opened', 'task.created']), await writer.write(['task.started'])]
    const before = collect(bus.events(scopeS, { after: 'now', ephemeral: true }))
    const joined: ReturnType<typeof collect>[] = []
    let leave = (): void => {}
    const meddler = bus.events(scopeS, { after: 'now' }).subscribe(() => {
      bus.ephemeral(delta(2, joined.length))
      joined.push(collect(bus.events(scopeS, { after: 'now', ephemeral: true })))
      leave()
      bus.committed(steps[1] ?? [])
    })
    const leaving = collect(bus.events(scopeS, { after: 'now' }))
    leave = leaving.stop
    const after = collect(bus.events(scopeS, { after: 'now', ephemeral: true }))
    await rest()
    const third = await writer.write(['message.added', 'message.added'])
    const fourth = await writer.write(['task.completed'])
    bus.committed(third)
    meddler.unsubscribe()
    bus.committed(fourth)
    await rest()
    const order = [4, 5, 'model.delta', 'model.delta', 6]
    expect(cursors(before.events)).toEqual(order)
    expect(cursors(after.events)).toEqual(order)
    expect(cursors(leaving.events)).toEqual([])
    expect(joined.map((each) => cursors(each.events))).toEqual([order.slice(2), order.slice(2)])
  })
})
