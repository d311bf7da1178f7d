import type { Database, Statement } from 'better-sqlite3'
import type { Head, HeadFilter, SessionSummary } from '../../facts/log-port.ts'
import type { Owners } from './owners.ts'

interface Row {
  readonly tenant: string
  readonly user: string
  readonly session: string
  readonly seq: number
  readonly step: number
  readonly hash: Buffer
  readonly last_id: string
  readonly updated_at: string
  readonly summary: string
  readonly unfinished: number
  readonly owner: string | null
  readonly epoch: number
  readonly key: Buffer | null
}

const columns = 'tenant, user, session, seq, step, hash, last_id, updated_at, summary, unfinished, owner, epoch, key'

/** Owns the statements that read heads. A row with seq 0 is no session yet and is never shown. */
export class Heads {
  readonly #db: Database
  readonly #owners: Owners
  readonly #one: Statement<[number], Row>
  readonly #listings = new Map<string, Statement<(string | number)[], Row>>()

  constructor(db: Database, owners: Owners) {
    this.#db = db
    this.#owners = owners
    this.#one = db.prepare(`SELECT ${columns} FROM sessions WHERE sid = ? AND seq > 0`)
  }

  one(sid: number): Head | null {
    const row = this.#one.get(sid)
    return row === undefined ? null : headOf(row)
  }

  list(filter: HeadFilter): Head[] {
    const { statement, values } = this.#listing(filter)
    if (filter.orphaned !== true) return statement.all(...values, filter.limit).map(headOf)
    // Whether an owner lives is decided here, not in SQL; the partial index keeps the rows to be looked at few.
    const gone = new Map<string, boolean>()
    const found: Head[] = []
    for (const row of statement.iterate(...values, -1)) {
      if (row.owner !== null && !this.#isGone(row.owner, gone)) continue
      found.push(headOf(row))
      if (found.length >= filter.limit) break
    }
    return found
  }

  #isGone(owner: string, known: Map<string, boolean>): boolean {
    const answer = known.get(owner) ?? this.#owners.isGone(owner)
    known.set(owner, answer)
    return answer
  }

  #listing(filter: HeadFilter): { statement: Statement<(string | number)[], Row>; values: string[] } {
    const conditions = ['seq > 0']
    const values: string[] = []
    for (const name of ['tenant', 'user', 'session'] as const) {
      const value = filter[name]
      if (value === undefined) continue
      conditions.push(`${name} = ?`)
      values.push(value)
    }
    if (filter.orphaned === true) conditions.push('unfinished = 1')
    if (filter.after !== undefined) {
      conditions.push('(tenant, user, session) > (?, ?, ?)')
      values.push(filter.after.tenant, filter.after.user, filter.after.session)
    }
    // The planner would walk the index of all sessions, because that one is in order too.
    const source = filter.orphaned === true ? 'sessions INDEXED BY unfinished_sessions' : 'sessions'
    const sql = `SELECT ${columns} FROM ${source} WHERE ${conditions.join(' AND ')} ORDER BY tenant, user, session LIMIT ?`
    const statement = this.#listings.get(sql) ?? this.#db.prepare<(string | number)[], Row>(sql)
    this.#listings.set(sql, statement)
    return { statement, values }
  }
}

function headOf(row: Row): Head {
  const { tenant, user, session } = row
  return {
    scope: { tenant, user, session },
    seq: row.seq,
    step: row.step,
    hash: row.hash.toString('hex'),
    lastId: row.last_id,
    updatedAt: row.updated_at,
    summary: JSON.parse(row.summary) as SessionSummary,
    unfinished: row.unfinished === 1,
    owner: row.owner === null ? null : { id: row.owner, epoch: row.epoch },
    ...(row.key === null ? {} : { key: row.key.toString('hex') }),
  }
}
