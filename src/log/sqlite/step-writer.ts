import type { Database, Statement } from 'better-sqlite3'
import type { AppendResult, StepAppend } from '../../facts/log-port.ts'
import { admit, isControl, type SessionHead, settleRedelivery } from '../admission.ts'
import { packContents } from '../packed-contents.ts'
import { Eraser } from './eraser.ts'
import type { SessionRows } from './session-rows.ts'
import { type StepReader, unhex } from './step-reader.ts'

interface HeadRow {
  readonly seq: number
  readonly step: number
  readonly hash: Buffer
  readonly last_id: string
  readonly owner: string | null
  readonly epoch: number
  readonly erased: number
  readonly unfinished: number
}

/**
 * Owns the statements of an append. All run inside one write transaction that the caller opened.
 * 1. A step is judged before anything of it is written, so a refused step leaves nothing behind and the others go on.
 * 2. A cursor is one more than the greatest in the store, counted on through the batch: no row is read back.
 */
export class StepWriter {
  readonly #rows: SessionRows
  readonly #reader: StepReader
  readonly #eraser: Eraser
  readonly #lastCursor: Statement<[], number | null>
  readonly #control: Statement<[], number>
  readonly #head: Statement<[number], HeadRow>
  readonly #insertStep: Statement
  readonly #insertShared: Statement
  readonly #moveHead: Statement
  readonly #setUnfinished: Statement
  readonly #setKey: Statement
  readonly #countSession: Statement
  readonly #setControl: Statement
  readonly #takeInbox: Statement
  readonly #keepAnswer: Statement
  /** The control version within the present batch. */
  #version = 0

  constructor(db: Database, rows: SessionRows, reader: StepReader) {
    this.#rows = rows
    this.#reader = reader
    this.#eraser = new Eraser(db)
    this.#lastCursor = db.prepare<[], number | null>('SELECT max(cursor) FROM steps').pluck()
    this.#control = db.prepare<[], number>('SELECT control FROM store').pluck()
    this.#head = db.prepare(
      'SELECT seq, step, hash, last_id, owner, epoch, erased, unfinished FROM sessions WHERE sid = ?',
    )
    this.#insertStep = db.prepare('INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#insertShared = db.prepare('INSERT OR IGNORE INTO shared VALUES (?, ?, ?)')
    this.#moveHead = db.prepare(
      'UPDATE sessions SET seq = ?, step = ?, hash = ?, last_id = ?, summary = ?, updated_at = ? WHERE sid = ?',
    )
    this.#setUnfinished = db.prepare('UPDATE sessions SET unfinished = ? WHERE sid = ?')
    this.#setKey = db.prepare('UPDATE sessions SET key = ? WHERE sid = ?')
    this.#countSession = db.prepare('UPDATE store SET sessions = sessions + 1')
    this.#setControl = db.prepare('UPDATE store SET control = ?')
    this.#takeInbox = db.prepare('DELETE FROM inbox WHERE sid = ? AND id = ?')
    this.#keepAnswer = db.prepare('INSERT OR REPLACE INTO answers VALUES (?, ?, ?)')
  }

  write(steps: readonly StepAppend[]): AppendResult[] {
    let cursor = this.#lastCursor.get() ?? 0
    this.#version = this.#control.get() ?? 0
    return steps.map((step) => {
      const result = this.#one(step, cursor + step.count)
      if (result.ok && !result.duplicate) cursor = result.cursor
      return result
    })
  }

  #one(step: StepAppend, cursor: number): AppendResult {
    const sid = this.#rows.find(step.scope)
    const row = sid === null ? undefined : this.#head.get(sid)
    const verdict = admit(step, row === undefined ? unopened : headOf(row), this.#version)
    if (verdict === 'redelivery') return this.#redelivery(step, sid ?? 0)
    if (verdict !== 'write') return { ok: false, error: verdict }
    this.#insert(step, cursor, sid ?? this.#rows.findOrCreate(step.scope), row)
    return { ok: true, cursor, duplicate: false }
  }

  #redelivery(step: StepAppend, sid: number): AppendResult {
    const stored = this.#reader.at(step.scope, sid, step.firstSeq)
    const error = settleRedelivery(step, stored)
    if (error !== null || stored === undefined)
      return { ok: false, error: error ?? this.#reader.missing(step.scope, step.firstSeq) }
    return { ok: true, cursor: stored.cursor, duplicate: true }
  }

  #insert(step: StepAppend, cursor: number, sid: number, row: HeadRow | undefined): void {
    const packed = step.contents.length === 0 ? null : packContents(step.contents)
    const hash = unhex(step.hash)
    this.#insertStep.run(cursor, sid, step.step, step.firstSeq, step.count, unhex(step.prev), hash, step.body, packed)
    for (const { digest, body } of step.shared) this.#insertShared.run(sid, digest, body)
    const lastSeq = step.firstSeq + step.count - 1
    this.#moveHead.run(lastSeq, step.step, hash, step.lastId, JSON.stringify(step.summary), step.at, sid)
    // In its own statement, because naming the column costs a change of the partial index.
    const unfinished = step.unfinished ? 1 : 0
    if (unfinished !== (row?.unfinished ?? 0)) this.#setUnfinished.run(unfinished, sid)
    if (step.key !== undefined) this.#setKey.run(unhex(step.key), sid)
    if (step.firstSeq === 1) this.#countSession.run()
    if (isControl(step)) {
      this.#setControl.run(lastSeq)
      this.#version = lastSeq
    }
    if (step.erase === true) this.#eraser.erase(sid)
    for (const { id, answer } of step.answers ?? []) {
      this.#takeInbox.run(sid, id)
      this.#keepAnswer.run(sid, id, answer)
    }
  }
}

const unopened: SessionHead = { seq: 0, step: 0, hash: '0'.repeat(64), lastId: '', owner: null, erased: false }

function headOf(row: HeadRow): SessionHead {
  return {
    seq: row.seq,
    step: row.step,
    hash: row.hash.toString('hex'),
    lastId: row.last_id,
    owner: row.owner === null ? null : { id: row.owner, epoch: row.epoch },
    erased: row.erased === 1,
  }
}
