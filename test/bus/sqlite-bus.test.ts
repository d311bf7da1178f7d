import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { busOf, collect, cursors, resumeOf, take } from './consumers.ts'
import { SessionWriter, scopeS } from './session-writer.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'landfall-bus-'))
})

afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

describe('bus over one file with two connections', () => {
  it('shows own and foreign commits in one order, and resumes in the other process', async () => {
    const file = join(directory, 'store.db')
    const [here, there] = [sqliteLog(file), sqliteLog(file)]
    const bus = busOf(here)
    const stream = bus.eventsWide({ tenant: 't' })[Symbol.asyncIterator]()
    const mine = collect(bus.events(scopeS))
    const own = new SessionWriter(here)
    const foreign = new SessionWriter(there, { ...scopeS, user: 'u2' })
    for (let round = 0; round < 20; round += 1) {
      await foreign.write(['message.added', 'message.added'])
      bus.committed(await own.write(['message.added']))
    }
    const seen = await take(stream, 60)
    expect(cursors(seen)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    expect(cursors(mine.events)).toEqual(cursors(own.facts))
    const elsewhere = busOf(there).eventsWide({}, { after: resumeOf(seen[29]) })
    expect(cursors(await take(elsewhere[Symbol.asyncIterator](), 30))).toEqual(cursors(seen.slice(30)))
    bus.close()
    await Promise.all([here.close(), there.close()])
  })
})
