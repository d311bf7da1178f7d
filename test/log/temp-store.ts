import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Log } from '../../src/facts/log-port.ts'
import { type SqliteLogOptions, sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'

/** A folder that is removed after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function tempFile(): string {
  return join(tempFolder(), 'store.db')
}

/** A log that is closed after the test. */
export function openLog(file: string, options?: SqliteLogOptions): Log {
  const log = sqliteLog(file, options)
  onTestFinished(() => log.close())
  return log
}
