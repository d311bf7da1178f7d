import type { Database, Statement } from 'better-sqlite3'

/** Owns the statements that take away everything of a session but its facts. `secure_delete` overwrites what they free. */
export class Eraser {
  readonly #statements: readonly Statement[]

  constructor(db: Database) {
    this.#statements = [
      'UPDATE steps SET contents = NULL WHERE sid = ? AND contents IS NOT NULL',
      'DELETE FROM shared WHERE sid = ?',
      'DELETE FROM inbox WHERE sid = ?',
      'DELETE FROM answers WHERE sid = ?',
      'DELETE FROM snapshots WHERE sid = ?',
      'UPDATE sessions SET key = NULL, erased = 1 WHERE sid = ?',
    ].map((sql) => db.prepare(sql))
  }

  erase(sid: number): void {
    for (const statement of this.#statements) statement.run(sid)
  }
}
