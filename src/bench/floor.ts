/**
 * Owns one SQLite file of the floor: the least that any program can do which makes every step of a turn durable.
 * 1. A row is a position, a session, a seq and a text of about 300 bytes; there is no index and no constraint to keep.
 * 2. `commit` returns after the transaction is durable: WAL with synchronous=FULL.
 * 3. Nothing here knows the product, and no figure of the product is a reason to change it.
 */
import Database from 'better-sqlite3'
import { floorRow, floorTurn, rowsATurn } from './floor-rows.ts'

export interface FloorStep {
  readonly session: number
  readonly firstSeq: number
  readonly rows: readonly string[]
}

export class FloorStore {
  readonly #database: Database.Database
  readonly #commit: (steps: readonly FloorStep[]) => void

  constructor(file: string) {
    this.#database = new Database(file)
    this.#database.pragma('journal_mode = WAL')
    this.#database.pragma('synchronous = FULL')
    this.#database.exec(
      'create table if not exists rows (position integer primary key, session integer not null, seq integer not null, body text not null)',
    )
    const insert = this.#database.prepare('insert into rows (session, seq, body) values (?, ?, ?)')
    this.#commit = this.#database.transaction((steps: readonly FloorStep[]) => {
      for (const step of steps) {
        let seq = step.firstSeq
        for (const row of step.rows) insert.run(step.session, seq++, row)
      }
    })
  }

  /** One transaction, however many steps. */
  commit(steps: readonly FloorStep[]): void {
    this.#commit(steps)
  }

  rows(session: number): IterableIterator<string> {
    const select = this.#database.prepare<[number], string>('select body from rows where session = ? order by position')
    return select.pluck().iterate(session)
  }

  close(): void {
    this.#database.close()
  }
}

/** The steps of one turn, made ready beforehand so that the floor's time is that of writing alone. */
export function preparedTurn(session: number, turn: number): readonly FloorStep[] {
  let seq = (turn - 1) * rowsATurn + 1
  return floorTurn(turn).map((events) => {
    const firstSeq = seq
    return { session, firstSeq, rows: events.map((event) => floorRow(event, session, seq++)) }
  })
}

/** A turn of one session, nothing shared: four transactions. */
export function writeTurn(store: FloorStore, steps: readonly FloorStep[]): void {
  for (const step of steps) store.commit([step])
}

/** A turn of each session, step by step in rotation, each step its own transaction. */
export function writeInterleaved(store: FloorStore, turns: readonly (readonly FloorStep[])[]): void {
  const longest = Math.max(...turns.map((steps) => steps.length))
  for (let index = 0; index < longest; index += 1) {
    for (const steps of turns) {
      const step = steps[index]
      if (step !== undefined) store.commit([step])
    }
  }
}
