import { existsSync } from 'node:fs'
import { LandfallError } from '../facts/errors.ts'
import type { Log } from '../facts/log-port.ts'
import { type SqliteLogOptions, sqliteLog } from '../log/sqlite/sqlite-log.ts'

/** Lends the store to `work`, opened so that nothing can be written; reads claim nothing. */
export async function withStore<T>(
  file: string,
  work: (log: Log) => Promise<T>,
  options: SqliteLogOptions = {},
): Promise<T> {
  if (!existsSync(file)) throw noStore(file)
  const log = sqliteLog(file, { ...options, readonly: true })
  try {
    return await work(log)
  } finally {
    await log.close()
  }
}

export function noStore(file: string): LandfallError {
  return new LandfallError('NOT_FOUND', 'There is no store here. Name one with --db, or run a turn first.', {
    details: { db: file },
  })
}
