import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FloorStore, preparedTurn, writeInterleaved, writeTurn } from '../../src/bench/floor.ts'
import { FloorFold } from '../../src/bench/floor-charts.ts'
import { GroupCommit, workingSession } from '../../src/bench/floor-grouped.ts'
import { fillFloor, readBack, replay } from '../../src/bench/floor-replay.ts'
import { floorRow, floorTurn, parseFloorRow, rowBytes, rowsATurn, stepsATurn } from '../../src/bench/floor-rows.ts'

let directory: string
let store: FloorStore

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'floor-test-'))
  store = new FloorStore(join(directory, 'floor.db'))
})

afterEach(() => {
  store.close()
  rmSync(directory, { recursive: true, force: true })
})

const stored = (session: number): string[] => [...store.rows(session)]

describe('the floor', () => {
  it('has a turn of 8 rows in 4 steps, each row of the promised size and readable again', () => {
    const turn = floorTurn(7)
    expect(turn).toHaveLength(stepsATurn)
    expect(turn.flat()).toHaveLength(rowsATurn)
    for (const event of turn.flat()) {
      const row = floorRow(event, 1, 50)
      expect(Buffer.byteLength(row)).toBe(rowBytes)
      expect(parseFloorRow(row)).toEqual(event)
    }
  })

  it('is as durable as it is said to be', () => {
    writeTurn(store, preparedTurn(0, 1))
    const reader = new Database(join(directory, 'floor.db'), { readonly: true })
    expect(reader.pragma('journal_mode', { simple: true })).toBe('wal')
    expect(reader.prepare('select count(*) from rows').pluck().get()).toBe(rowsATurn)
    reader.close()
  })

  it('keeps the turns of interleaved sessions apart, in order', () => {
    writeInterleaved(store, [preparedTurn(1, 1), preparedTurn(2, 1)])
    const events = (session: number) => stored(session).map(parseFloorRow)
    expect(events(1)).toEqual(floorTurn(1).flat())
    expect(events(2)).toEqual(events(1))
  })

  it('reads and folds all that was written', () => {
    fillFloor(store, 5)
    expect(readBack(store)).toBe(5 * rowsATurn)
    expect(replay(store)).toBe(5)
  })
})

describe('the fold of the floor', () => {
  it('refuses an event out of order', () => {
    const fold = new FloorFold()
    fold.offer({ type: 'turn.created', turn: 1, bytes: 1 })
    expect(() => fold.offer({ type: 'call.finished', call: 0, bytes: 1 })).toThrow('refused')
    expect(() => fold.offer({ type: 'turn.created', turn: 2, bytes: 1 })).toThrow('refused')
  })
})

describe('group commit', () => {
  it('writes every turn of every session, and chains hashes over all of them', async () => {
    const commits = new GroupCommit(store)
    const hashes = await Promise.all([1, 2, 3].map((session) => workingSession(commits, session, 4)))
    for (const session of [1, 2, 3]) {
      expect(stored(session).map(parseFloorRow)).toEqual([1, 2, 3, 4].flatMap((turn) => floorTurn(turn).flat()))
    }
    expect(new Set(hashes).size).toBe(3)
    expect(await workingSession(commits, 1, 4)).toBe(hashes[0])
    expect(await workingSession(commits, 1, 5)).not.toBe(hashes[0])
  })

  it('settles each of more steps than a batch holds', async () => {
    const commits = new GroupCommit(store)
    const step = (session: number) => ({ session, firstSeq: 1, rows: [`row of ${session}`] })
    await Promise.all(Array.from({ length: 600 }, (_, session) => commits.append(step(session))))
    expect(stored(0)).toEqual(['row of 0'])
    expect(stored(599)).toEqual(['row of 599'])
  })
})
