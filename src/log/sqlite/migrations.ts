import type { Database } from 'better-sqlite3'
import { LandfallError } from '../../facts/errors.ts'

/**
 * The schema, one numbered step after another; `user_version` says how many a file has had. Released steps never change: add one.
 *
 * `steps.cursor` is the rowid and the cursor of the step's last fact, so that facts need no rows. A step's contents are packed
 * into the last column of its row: a row in a table of their own would dirty one more page in every commit, and SQLite does
 * not read a last column that is not asked for. `sessions` are the heads; a row with seq 0 is a session that is only claimed
 * or written to.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE store (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    epoch TEXT NOT NULL,
    sessions INTEGER NOT NULL,
    control INTEGER NOT NULL
  );
  INSERT INTO store VALUES (1, lower(hex(randomblob(8))), 0, 0);
  CREATE TABLE sessions (
    sid INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL DEFAULT 0,
    hash BLOB NOT NULL DEFAULT (zeroblob(32)),
    last_id TEXT NOT NULL DEFAULT '',
    summary TEXT NOT NULL DEFAULT '{}',
    updated_at TEXT NOT NULL DEFAULT '',
    unfinished INTEGER NOT NULL DEFAULT 0,
    erased INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    key BLOB,
    UNIQUE (tenant, user, session)
  );
  CREATE INDEX unfinished_sessions ON sessions (tenant, user, session) WHERE unfinished = 1;
  CREATE TABLE steps (
    cursor INTEGER PRIMARY KEY,
    sid INTEGER NOT NULL,
    step INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    count INTEGER NOT NULL,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL,
    body TEXT NOT NULL,
    contents TEXT,
    UNIQUE (sid, first_seq)
  );
  CREATE TABLE shared (sid INTEGER NOT NULL, digest TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (sid, digest));
  `,
  `
  CREATE TABLE owners (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL
  );
  CREATE TABLE inbox (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    sid INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (sid, id)
  );
  CREATE TABLE answers (sid INTEGER NOT NULL, id TEXT NOT NULL, answer TEXT NOT NULL, UNIQUE (sid, id));
  CREATE TABLE snapshots (
    sid INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  `,
]

export const schemaVersion = migrations.length

/** 'LAND' in ASCII: tells a Landfall store from any other SQLite file. */
const applicationId = 0x4c414e44

/** Brings a file to the schema of `upTo`, each step in its own transaction, together with its number. */
export function migrate(db: Database, upTo = schemaVersion): void {
  let version = checkedVersion(db)
  while (version < upTo) {
    db.transaction(() => {
      // Another process may have done this step since: the number is read again under the lock.
      version = checkedVersion(db)
      const sql = version < upTo ? migrations[version] : undefined
      if (sql === undefined) return
      db.exec(sql)
      version += 1
      db.pragma(`application_id = ${applicationId}`)
      db.pragma(`user_version = ${version}`)
    }).immediate()
  }
}

export function checkedVersion(db: Database): number {
  const version = Number(db.pragma('user_version', { simple: true }))
  const owner = Number(db.pragma('application_id', { simple: true }))
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get())
  if (tables > 0 && owner !== applicationId) {
    throw new LandfallError('STORE_VERSION', 'The file is a database of another program. Name another file.', {
      details: { found: null, known: schemaVersion },
    })
  }
  if (version > schemaVersion) {
    throw new LandfallError('STORE_VERSION', 'The store was written by a newer Landfall. Upgrade this one.', {
      details: { found: version, known: schemaVersion },
    })
  }
  return version
}
