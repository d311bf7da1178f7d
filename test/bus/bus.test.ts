import { firstValueFrom, from, map, take as takeFirst, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { LandfallError } from '../../src/facts/errors.ts'
import { controlScope } from '../../src/facts/scope.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { busOf, collect, cursors, delta, rest, resumeOf, take } from './consumers.ts'
import { firstTask, otherTask, SessionWriter, scopeS } from './session-writer.ts'

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof LandfallError) return error.code
  }
  return 'nothing was thrown'
}

describe('replay and live', () => {
  it('gives what is there, then what comes, without a seam', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    await writer.write(['session.opened', 'task.created'])
    const seen = collect(bus.events(scopeS))
    await rest()
    expect(cursors(seen.events)).toEqual([1, 2])
    bus.committed(await writer.write(['task.started']))
    await rest()
    expect(seen.events).toEqual(
      writer.facts.map((fact) => ({
        ...fact,
        resume: expect.stringMatching(new RegExp(`^[0-9a-f]+-${fact.cursor}$`)),
      })),
    )
  })

  it('starts a stream of a session that was never opened when the session starts', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const seen = collect(bus.events(scopeS))
    await rest()
    expect(seen.events).toEqual([])
    bus.committed(await new SessionWriter(log).write(['session.opened']))
    expect(cursors(seen.events)).toEqual([1])
  })

  it('hears commits of which nobody told it', async () => {
    const log = memoryLog()
    const seen = collect(busOf(log).events(scopeS))
    await rest()
    await new SessionWriter(log).write(['session.opened', 'task.created'])
    await rest()
    expect(cursors(seen.events)).toEqual([1, 2])
  })

  it("gives only what is to come after 'now', from the very call on", async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    await writer.write(['session.opened'])
    const seen = collect(bus.events(scopeS, { after: 'now' }))
    const iterator = bus.events(scopeS, { after: 'now' })[Symbol.asyncIterator]()
    bus.committed(await writer.write(['task.created']))
    await rest()
    expect(cursors(seen.events)).toEqual([2])
    expect(cursors(await take(iterator, 1))).toEqual([2])
  })

  it('goes on after a position, also from the middle of a step', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    await writer.write(['session.opened', 'task.created', 'task.started'])
    await writer.write(['message.added'])
    const [, second] = await take(bus.events(scopeS)[Symbol.asyncIterator](), 2)
    const seen = collect(bus.events(scopeS, { after: resumeOf(second) }))
    await rest()
    expect(cursors(seen.events)).toEqual([3, 4])
    const atEnd = collect(bus.events(scopeS, { after: resumeOf(seen.events.at(-1)) }))
    await rest()
    bus.committed(await writer.write(['task.completed']))
    expect(cursors(atEnd.events)).toEqual([5])
  })

  it('is an Observable for operators, and each subscription starts for itself', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    await new SessionWriter(log).write(['session.opened', 'task.created'])
    const stream = bus.events(scopeS)
    const types = stream.pipe(
      map((event) => event.type),
      takeFirst(2),
      toArray(),
    )
    expect(await firstValueFrom(types)).toEqual(['session.opened', 'task.created'])
    expect(await firstValueFrom(from(types))).toEqual(['session.opened', 'task.created'])
    expect(bus.subscribers).toBe(0)
  })
})

describe('scopes', () => {
  const malformed = [undefined, null, 'x', {}, { tenant: 't', user: 'u' }, { ...scopeS, session: '' }, controlScope]

  it.each(malformed)('refuses %j before it reads anything', (scope) => {
    const log = memoryLog()
    const touched: string[] = []
    const watched = new Proxy(log, {
      get: (target, name, receiver) => {
        touched.push(String(name))
        return Reflect.get(target, name, receiver)
      },
    })
    const bus = busOf(watched)
    expect(codeOf(() => bus.events(scope))).toBe('IDENTITY_REQUIRED')
    expect(touched).toEqual([])
    expect(bus.subscribers).toBe(0)
  })

  it('shows nothing of other scopes and nothing of the control stream', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const mine = collect(bus.events(scopeS, { ephemeral: true }))
    await rest()
    const others = [
      { ...scopeS, session: 's2' },
      { ...scopeS, user: 'u2' },
      { ...scopeS, tenant: 't2' },
    ]
    for (const scope of others) bus.committed(await new SessionWriter(log, scope).write(['session.opened']))
    bus.committed(await new SessionWriter(log, controlScope).write(['capability.revoked']))
    bus.ephemeral({ ...delta(1, 0), user: 'u2' })
    bus.committed(await new SessionWriter(log).write(['session.opened']))
    await rest()
    const replayed = collect(bus.events(scopeS))
    await rest()
    expect(cursors(mine.events)).toEqual([5])
    expect(cursors(replayed.events)).toEqual([5])
  })

  it('shows wider views by their filter, live and replayed, and the control stream to the fleet alone', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const filters = [{}, { tenant: 't' }, { tenant: 't', user: 'u2' }]
    const live = filters.map((filter) => collect(bus.eventsWide(filter)))
    await rest()
    bus.committed(await new SessionWriter(log).write(['session.opened']))
    bus.committed(await new SessionWriter(log, controlScope).write(['capability.revoked']))
    bus.committed(await new SessionWriter(log, { ...scopeS, user: 'u2' }).write(['session.opened']))
    bus.committed(await new SessionWriter(log, { ...scopeS, tenant: 't2' }).write(['session.opened']))
    const replayed = filters.map((filter) => collect(bus.eventsWide(filter)))
    await rest()
    for (const views of [live, replayed]) {
      expect(views.map((view) => cursors(view.events))).toEqual([[1, 2, 3, 4], [1, 3], [3]])
    }
    expect(codeOf(() => bus.eventsWide({ user: 'u' }))).toBe('IDENTITY_REQUIRED')
    expect(codeOf(() => bus.eventsWide({ tenant: '_control' }))).toBe('IDENTITY_REQUIRED')
  })
})

describe('filters', () => {
  it('are the same for live and for replay', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const options = [{ types: ['task.created', 'model.delta'] }, { task: otherTask }, { types: [] }]
    const live = options.map((each) => collect(bus.events(scopeS, each)))
    await rest()
    const writer = new SessionWriter(log)
    bus.committed(await writer.write(['session.opened', 'task.created'], { task: firstTask }))
    bus.committed(await writer.write(['task.created', 'task.started'], { task: otherTask }))
    const replayed = options.map((each) => collect(bus.events(scopeS, each)))
    await rest()
    for (const views of [live, replayed]) expect(views.map((v) => cursors(v.events))).toEqual([[2, 3], [3, 4], []])
  })

  it.each([{ types: ['task.creatd'] }, { task: '' }])('refuse %j', (options) => {
    expect(codeOf(() => busOf(memoryLog()).events(scopeS, options))).toBe('INVALID_INPUT')
  })

  it('hold for passing events too, which come only when asked for', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    const writer = new SessionWriter(log)
    const all = collect(bus.events(scopeS, { ephemeral: true }))
    const facts = collect(bus.events(scopeS))
    const other = collect(bus.events(scopeS, { ephemeral: true, task: otherTask }))
    const progress = collect(bus.events(scopeS, { ephemeral: true, types: ['call.progress'] }))
    await rest()
    bus.committed(await writer.write(['session.opened']))
    bus.ephemeral(delta(1, 0))
    bus.ephemeral(delta(1, 1, otherTask))
    bus.ephemeral({ ...scopeS, type: 'call.progress', task: firstTask, call: 'c', after: 1, index: 0, note: 'half' })
    expect(cursors(all.events)).toEqual([1, 'model.delta', 'model.delta', 'call.progress'])
    expect(cursors(facts.events)).toEqual([1])
    expect(cursors(other.events)).toEqual(['model.delta'])
    expect(cursors(progress.events)).toEqual(['call.progress'])
    const late = collect(bus.events(scopeS, { ephemeral: true }))
    await rest()
    expect(cursors(late.events)).toEqual([1])
  })
})

describe('positions', () => {
  it('of another store, of the future, or no positions at all are refused', async () => {
    const log = memoryLog()
    const bus = busOf(log)
    await new SessionWriter(log).write(['session.opened'])
    const epoch = await log.epoch()
    const wrong = [
      '',
      '1',
      `${epoch}`,
      `${epoch}-`,
      `${epoch}--1`,
      `${epoch}-01`,
      `${epoch}-1x`,
      `${epoch}-2`,
      'beef-1',
    ]
    for (const after of [...wrong, `${epoch}-99999999999999999`]) {
      const seen = collect(bus.events(scopeS, { after }))
      await rest()
      expect([after, seen.ended]).toEqual([
        after,
        { how: 'error', error: expect.objectContaining({ code: 'CURSOR_INVALID' }) },
      ])
      expect(seen.events).toEqual([])
    }
    await expect(bus.events(scopeS, { after: 'beef-1' })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'CURSOR_INVALID',
    })
    expect(bus.subscribers).toBe(0)
  })

  it('older than what is kept are refused as too old', async () => {
    const log = memoryLog()
    await new SessionWriter(log).write(['session.opened', 'task.created', 'task.started'])
    const bus = busOf(Object.assign(log, { retainedAfter: async () => 2 }))
    const epoch = await log.epoch()
    const old = collect(bus.events(scopeS, { after: `${epoch}-1` }))
    const kept = collect(bus.events(scopeS, { after: `${epoch}-2` }))
    await rest()
    expect(old.ended).toMatchObject({ how: 'error', error: { code: 'CURSOR_TOO_OLD' } })
    expect(cursors(kept.events)).toEqual([3])
  })
})
