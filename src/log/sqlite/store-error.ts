import { LandfallError } from '../../facts/errors.ts'

/** [SQLite result code, our code, retryable, what to do]. Extended codes begin with their primary code. */
const table: readonly (readonly [string, string, boolean, string])[] = [
  ['SQLITE_BUSY', 'STORE_BUSY', true, 'Another process keeps the store locked. Try again.'],
  ['SQLITE_LOCKED', 'STORE_BUSY', true, 'The store is locked. Try again.'],
  ['SQLITE_FULL', 'STORE_FULL', true, 'The disk or the quota of the store is full. Free space, then try again.'],
  [
    'SQLITE_READONLY',
    'STORE_READONLY',
    false,
    'The store can only be read. Give write permission to its file and folder.',
  ],
  ['SQLITE_CANTOPEN', 'STORE_IO', false, 'The store cannot be opened. Check that its folder exists and may be used.'],
  ['SQLITE_PERM', 'STORE_IO', false, 'The store may not be used. Check the permissions of its file.'],
  ['SQLITE_CORRUPT', 'LOG_CORRUPT', false, 'The file of the store is damaged. Restore it from a backup.'],
  ['SQLITE_NOTADB', 'LOG_CORRUPT', false, 'The file is not a Landfall store. Name another file.'],
  ['SQLITE_IOERR', 'STORE_IO', true, 'The disk reported an error. Check it, then try again.'],
]

/** Codes after which it is certain that nothing of the transaction was committed. */
const certain: ReadonlySet<string> = new Set(['STORE_BUSY', 'STORE_FULL', 'STORE_READONLY'])

export function storeError(error: unknown): unknown {
  if (error instanceof LandfallError) return error
  const code = sqliteCode(error)
  const row = code === null ? undefined : table.find(([primary]) => code.startsWith(primary))
  if (row !== undefined)
    return new LandfallError(row[1], row[3], { retryable: row[2], details: { sqlite: code }, cause: error })
  if (error instanceof TypeError && /directory does not exist/.test(error.message))
    return new LandfallError('STORE_IO', 'The folder of the store does not exist. Make it, or name another.', {
      cause: error,
    })
  if (error instanceof TypeError && /not open/.test(error.message)) {
    return new LandfallError('SHUTTING_DOWN', 'The log is closed. Open the store again.', { cause: error })
  }
  return error
}

export function isCertainlyUncommitted(error: unknown): error is LandfallError {
  return error instanceof LandfallError && certain.has(error.code)
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== null && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
}

function sqliteCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : null
}
