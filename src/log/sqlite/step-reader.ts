import type { Database, Statement } from 'better-sqlite3'
import { LandfallError } from '../../facts/errors.ts'
import type { ContentRef, StoredStep } from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import { findContent } from '../packed-contents.ts'
import { StepFinder } from './step-finder.ts'

interface StepRow {
  readonly cursor: number
  readonly step: number
  readonly first_seq: number
  readonly count: number
  readonly prev: Buffer
  readonly hash: Buffer
  readonly body: string
}

type ScopedStepRow = StepRow & Scope

const columns = 'steps.cursor, steps.step, first_seq, count, prev, steps.hash, body'

/** Owns the statements that read steps and contents. */
export class StepReader {
  readonly #at: Statement<[number, number], StepRow>
  readonly #from: Statement<[number, number, number, number], StepRow>
  readonly #holding: Statement<[number, number], number>
  readonly #tail: Statement<[number, number], ScopedStepRow>
  readonly #lastCursor: Statement<[], number | null>
  readonly #finder: StepFinder
  readonly #contents: Statement<[number], string | null>
  readonly #shared: Statement<[number, string], string>

  constructor(db: Database) {
    this.#at = db.prepare(`SELECT ${columns} FROM steps WHERE sid = ? AND first_seq = ?`)
    this.#from = db.prepare(
      `SELECT ${columns} FROM steps WHERE sid = ? AND first_seq >= ? AND cursor > ? ORDER BY first_seq LIMIT ?`,
    )
    this.#holding = db
      .prepare<[number, number], number>(
        'SELECT first_seq FROM steps WHERE sid = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1',
      )
      .pluck()
    this.#tail = db.prepare(
      `SELECT ${columns}, tenant, user, session FROM steps JOIN sessions USING (sid) WHERE cursor > ? ORDER BY cursor LIMIT ?`,
    )
    this.#lastCursor = db.prepare<[], number | null>('SELECT max(cursor) FROM steps').pluck()
    this.#finder = new StepFinder(db)
    this.#contents = db.prepare<[number], string | null>('SELECT contents FROM steps WHERE cursor = ?').pluck()
    this.#shared = db.prepare<[number, string], string>('SELECT body FROM shared WHERE sid = ? AND digest = ?').pluck()
  }

  at(scope: Scope, sid: number, firstSeq: number): StoredStep | undefined {
    const row = this.#at.get(sid, firstSeq)
    return row === undefined ? undefined : stepOf(row, scope)
  }

  read(scope: Scope, sid: number, range: { after?: number; afterCursor?: number; limit: number }): StoredStep[] {
    // The step that holds the first fact after `after` begins at that fact or before it.
    const first = this.#holding.get(sid, (range.after ?? 0) + 1) ?? 1
    return this.#from.all(sid, first, range.afterCursor ?? 0, range.limit).flatMap((row) => {
      const passed = row.first_seq + row.count - 1 <= (range.after ?? 0)
      return passed ? [] : [stepOf(row, scope)]
    })
  }

  tail(afterCursor: number, limit: number): StoredStep[] {
    return this.#tail.all(afterCursor, limit).map((row) => {
      const { tenant, user, session } = row
      return stepOf(row, { tenant, user, session })
    })
  }

  lastCursor(): number {
    return this.#lastCursor.get() ?? 0
  }

  contents(sid: number, refs: readonly ContentRef[]): (string | null)[] {
    let last: { readonly step: number; readonly packed: string | null } | null = null
    const search = this.#finder.search(sid)
    return refs.map(({ digest, step }) => {
      if (step === 0) return this.#shared.get(sid, digest) ?? null
      // Messages of one step are asked for together, so the row read last is often the one.
      if (last?.step !== step) {
        const cursor = search(step)
        last = { step, packed: cursor === null ? null : (this.#contents.get(cursor) ?? null) }
      }
      return last.packed === null ? null : findContent(last.packed, digest)
    })
  }

  missing(scope: Scope, seq: number): LandfallError {
    return new LandfallError('LOG_CORRUPT', 'A step is missing from the log. Restore the store from a backup.', {
      details: { session: scope.session, seq, what: 'missing step' },
    })
  }
}

export function unhex(hex: string): Buffer {
  return Buffer.from(hex, 'hex')
}

function stepOf(row: StepRow, scope: Scope): StoredStep {
  return {
    scope,
    step: row.step,
    firstSeq: row.first_seq,
    count: row.count,
    cursor: row.cursor,
    prev: row.prev.toString('hex'),
    hash: row.hash.toString('hex'),
    body: row.body,
  }
}
