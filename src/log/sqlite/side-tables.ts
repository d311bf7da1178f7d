import type { Database, Statement } from 'better-sqlite3'
import type { Owner } from '../../facts/envelope.ts'
import type { InboxEntry, Snapshot } from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import { checkSameEntry, erasedInbox } from '../inbox-rules.ts'
import type { SessionRows } from './session-rows.ts'

/** Owns the statements of the inbox and of snapshots: what goes with a session beside its steps. */
export class SideTables {
  readonly #rows: SessionRows
  readonly #state: Statement<[number], { readonly seq: number; readonly erased: number }>
  readonly #entry: Statement<[number, string], InboxEntry>
  readonly #put: Statement<[number, string, string, string, string]>
  readonly #entries: Statement<[number, number], InboxEntry>
  readonly #answer: Statement<[number, string], string>
  readonly #take: Statement<[number, string]>
  readonly #keep: Statement<[number, string, string]>
  readonly #forget: Statement<[number, string]>
  readonly #pending: Statement<[number], Scope>
  readonly #owned: Statement<[number, string, number], number>
  readonly #snapshot: Statement<[number], Snapshot>
  readonly #save: Statement<[number, number, string, number, string]>

  constructor(db: Database, rows: SessionRows) {
    this.#rows = rows
    this.#state = db.prepare('SELECT seq, erased FROM sessions WHERE sid = ?')
    this.#entry = db.prepare('SELECT id, name, body, at FROM inbox WHERE sid = ? AND id = ?')
    this.#put = db.prepare('INSERT INTO inbox (sid, id, name, body, at) VALUES (?, ?, ?, ?, ?)')
    this.#entries = db.prepare('SELECT id, name, body, at FROM inbox WHERE sid = ? ORDER BY place LIMIT ?')
    this.#answer = db.prepare<[number, string], string>('SELECT answer FROM answers WHERE sid = ? AND id = ?').pluck()
    this.#take = db.prepare('DELETE FROM inbox WHERE sid = ? AND id = ?')
    this.#keep = db.prepare('INSERT OR REPLACE INTO answers VALUES (?, ?, ?)')
    this.#forget = db.prepare('DELETE FROM answers WHERE sid = ? AND id = ?')
    this.#pending = db.prepare(
      'SELECT DISTINCT tenant, user, session FROM inbox JOIN sessions USING (sid) ORDER BY tenant, user, session LIMIT ?',
    )
    this.#owned = db
      .prepare<[number, string, number], number>('SELECT 1 FROM sessions WHERE sid = ? AND owner = ? AND epoch = ?')
      .pluck()
    this.#snapshot = db.prepare('SELECT seq, hash, revision, body FROM snapshots WHERE sid = ?')
    this.#save = db.prepare('INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)')
  }

  putInbox(scope: Scope, entry: InboxEntry): void {
    const sid = this.#rows.findOrCreate(scope)
    if (this.#state.get(sid)?.erased === 1) {
      if (this.#answer.get(sid, entry.id) !== undefined) return
      throw erasedInbox()
    }
    const known = this.#entry.get(sid, entry.id)
    if (known !== undefined) checkSameEntry(known, entry)
    else this.#put.run(sid, entry.id, entry.name, entry.body, entry.at)
    this.#forget.run(sid, entry.id)
  }

  inbox(sid: number, limit: number): InboxEntry[] {
    return this.#entries.all(sid, limit)
  }

  answer(sid: number, id: string): string | null {
    return this.#answer.get(sid, id) ?? null
  }

  settle(sid: number, owner: Owner, entry: { id: string; answer: string }): boolean {
    if (this.#owned.get(sid, owner.id, owner.epoch) === undefined) return false
    if (this.#take.run(sid, entry.id).changes > 0) this.#keep.run(sid, entry.id, entry.answer)
    return true
  }

  pending(limit: number): Scope[] {
    return this.#pending.all(limit)
  }

  snapshot(sid: number): Snapshot | null {
    return this.#snapshot.get(sid) ?? null
  }

  saveSnapshot(sid: number, snapshot: Snapshot): boolean {
    const state = this.#state.get(sid)
    if (state === undefined || state.seq === 0 || state.erased === 1) return false
    if ((this.snapshot(sid)?.revision ?? 0) !== snapshot.revision - 1) return false
    this.#save.run(sid, snapshot.seq, snapshot.hash, snapshot.revision, snapshot.body)
    return true
  }
}
