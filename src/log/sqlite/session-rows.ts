import type { Database, Statement } from 'better-sqlite3'
import { type Scope, scopeKey } from '../../facts/scope.ts'

/** Beyond this many the cache is emptied: an id costs one look-up, memory costs for ever. */
const cachedIds = 10_000

/**
 * Owns the numbers of sessions: what rows refer to instead of three strings.
 * 1. A number never changes and is never given to another session, so the cache may outlive anything but a rollback.
 */
export class SessionRows {
  readonly #find: Statement<[string, string, string], number>
  readonly #create: Statement<[string, string, string]>
  readonly #cache = new Map<string, number>()

  constructor(db: Database) {
    this.#find = db.prepare<[string, string, string], number>(
      'SELECT sid FROM sessions WHERE tenant = ? AND user = ? AND session = ?',
    )
    this.#find.pluck()
    // A read-only connection may prepare this; only running it is refused.
    this.#create = db.prepare('INSERT INTO sessions (tenant, user, session) VALUES (?, ?, ?)')
  }

  find(scope: Scope): number | null {
    const key = scopeKey(scope)
    const cached = this.#cache.get(key)
    if (cached !== undefined) return cached
    const sid = this.#find.get(scope.tenant, scope.user, scope.session)
    if (sid === undefined) return null
    if (this.#cache.size >= cachedIds) this.#cache.clear()
    this.#cache.set(key, sid)
    return sid
  }

  /** Only inside a write transaction. Not cached before it is read again, since the transaction may be rolled back. */
  findOrCreate(scope: Scope): number {
    const found = this.find(scope)
    if (found !== null) return found
    return Number(this.#create.run(scope.tenant, scope.user, scope.session).lastInsertRowid)
  }

  forget(): void {
    this.#cache.clear()
  }
}
