import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { zeroHash } from '../../src/facts/chain.ts'
import { LandfallError } from '../../src/facts/errors.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { systemScheduler } from '../../src/facts/system-ports.ts'
import { Connection } from '../../src/log/sqlite/connection.ts'
import { migrate, schemaVersion } from '../../src/log/sqlite/migrations.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { claimed, here, piece, refusal, SessionDraft, scopeA, scopeB } from '../contract/log-harness.ts'
import { openLog, tempFile, tempFolder } from './temp-store.ts'

test('a store that was closed is opened as it was', async () => {
  const file = tempFile()
  const log = sqliteLog(file)
  const draft = await claimed(log, scopeA)
  await draft.append(log, { contents: [piece('kept')], key: 'ab'.repeat(32) })
  const [epoch, head, steps] = [await log.epoch(), await log.head(scopeA), await log.tail(0, 10)]
  await log.close()
  const again = openLog(file)
  expect(await again.epoch()).toBe(epoch)
  expect(await again.head(scopeA)).toEqual(head)
  expect(await again.tail(0, 10)).toEqual(steps)
  expect(await again.content(scopeA, [{ digest: piece('kept').digest, step: 1 }])).toEqual(['kept'])
  expect(await draft.append(again)).toBe(4)
})

test('durability is FULL unless NORMAL is chosen, and the journal is a write-ahead log', () => {
  const scheduler = systemScheduler()
  const settings = (['FULL', 'NORMAL', undefined] as const).map((synchronous) => {
    const connection = new Connection(tempFile(), synchronous === undefined ? {} : { synchronous }, scheduler)
    const found = ['synchronous', 'journal_mode', 'secure_delete'].map((name) =>
      connection.db.pragma(name, { simple: true }),
    )
    connection.close()
    return found
  })
  expect(settings).toEqual([
    [2, 'wal', 1],
    [1, 'wal', 1],
    [2, 'wal', 1],
  ])
})

test('a store of an older schema is brought up to date with what it holds', async () => {
  const file = tempFile()
  const old = new SqliteDatabase(file)
  migrate(old, 1)
  old.exec(`INSERT INTO sessions (tenant, user, session, seq, step, last_id, summary, owner, epoch)
    VALUES ('t', 'u', 'a', 0, 0, '', '{}', '${here.id}', 1)`)
  expect(old.pragma('user_version', { simple: true })).toBe(1)
  old.close()
  expect(() => sqliteLog(file, { readonly: true })).toThrow(expect.objectContaining({ code: 'STORE_VERSION' }))
  const log = openLog(file)
  const draft = new SessionDraft(scopeA, { id: here.id, epoch: 1 })
  expect(await draft.append(log)).toBe(2)
  await log.putInbox(scopeA, { id: 'c', name: 'n', body: 'b', at: 'now' })
  expect(await log.inbox(scopeA, 1)).toHaveLength(1)
  expect(new SqliteDatabase(file).pragma('user_version', { simple: true })).toBe(schemaVersion)
})

test('a newer schema and a foreign database are refused and left alone', () => {
  const [newer, foreign] = [tempFile(), tempFile()]
  const made = new SqliteDatabase(newer)
  migrate(made)
  made.pragma(`user_version = ${schemaVersion + 1}`)
  made.close()
  const other = new SqliteDatabase(foreign)
  other.exec('CREATE TABLE theirs (x)')
  other.close()
  for (const file of [newer, foreign]) {
    const before = readFileSync(file)
    expect(() => sqliteLog(file)).toThrow(expect.objectContaining({ code: 'STORE_VERSION' }))
    expect(readFileSync(file).equals(before)).toBe(true)
  }
})

test('what is no database is LOG_CORRUPT, and a missing folder is STORE_IO', () => {
  const file = tempFile()
  writeFileSync(file, 'not a database, but long enough to look at '.repeat(100))
  expect(() => sqliteLog(file)).toThrow(expect.objectContaining({ code: 'LOG_CORRUPT' }))
  expect(() => sqliteLog(join(tempFolder(), 'no', 'such', 'store.db'))).toThrow()
})

test('a store opened for reading reads and refuses to write', async () => {
  const file = tempFile()
  const writer = openLog(file)
  const draft = await claimed(writer, scopeA)
  await draft.append(writer)
  const log = openLog(file, { readonly: true })
  expect(await log.read(scopeA, { limit: 10 })).toHaveLength(1)
  expect(await log.append([draft.peek()])).toEqual([refusal('STORE_READONLY')])
  await expect(log.claim(scopeA, here)).rejects.toMatchObject({ code: 'STORE_READONLY' })
  expect(() => sqliteLog(tempFile(), { readonly: true })).toThrow()
})

test('a full store refuses the step, keeps what it has and goes on when there is room', async () => {
  const file = tempFile()
  const log = sqliteLog(file, { maxBytes: 200_000 })
  const draft = await claimed(log, scopeA)
  const body = 'x'.repeat(20_000)
  let refused: unknown
  for (let i = 0; i < 50 && refused === undefined; i += 1) {
    const step = draft.peek({ contents: [piece(body)] })
    const [result] = await log.append([step])
    if (result?.ok === true) draft.next({ contents: [piece(body)] })
    else refused = result
  }
  expect(refused).toEqual(refusal('STORE_FULL'))
  const head = await log.head(scopeA)
  expect([head?.seq, head?.hash]).toEqual([draft.seq, draft.hash])
  await log.close()
  const roomy = openLog(file)
  expect(await draft.append(roomy, { contents: [piece(body)] })).toBe(draft.seq)
})

test('a write waits for another writer for a bounded time, then says STORE_BUSY', async () => {
  const file = tempFile()
  const log = openLog(file, { busyMs: 100 })
  const draft = await claimed(log, scopeA)
  const blocker = new SqliteDatabase(file)
  blocker.exec('BEGIN IMMEDIATE')
  const [busy] = await log.append([draft.peek()])
  expect(busy).toEqual(refusal('STORE_BUSY'))
  expect(busy?.ok === false && busy.error.retryable).toBe(true)
  const waiting = openLog(file, { busyMs: 2_000 }).append([draft.next()])
  setTimeout(() => blocker.exec('ROLLBACK'), 60)
  expect(await waiting).toMatchObject([{ ok: true }])
  blocker.close()
})

test('a torn tail of the write-ahead log costs whole steps at the end and nothing else', async () => {
  const file = tempFile()
  const log = openLog(file)
  const draft = await claimed(log, scopeA)
  for (let i = 0; i < 30; i += 1) await draft.append(log)
  const whole = await log.read(scopeA, { limit: 100 })
  const size = statSync(`${file}-wal`).size
  const kept: number[] = []
  for (const torn of [1, 700, 4_200, 9_000, Math.floor(size / 2)]) {
    const copy = tempFile()
    copyFileSync(file, copy)
    copyFileSync(`${file}-wal`, `${copy}-wal`)
    truncateSync(`${copy}-wal`, size - torn)
    const reopened = openLog(copy)
    const steps = await reopened.read(scopeA, { limit: 100 })
    expect(steps).toEqual(whole.slice(0, steps.length))
    const head = await reopened.head(scopeA)
    expect(head).toMatchObject({ step: steps.length, hash: steps.at(-1)?.hash ?? zeroHash })
    kept.push(steps.length)
  }
  expect(kept[0]).toBe(29)
  expect(kept.toSorted((a, b) => b - a)).toEqual(kept)
  expect(kept.at(-1)).toBeLessThan(20)
})

test('erased content is in neither file any more', async () => {
  const file = tempFile()
  const log = openLog(file)
  const draft = await claimed(log, scopeA)
  const secret = 'the secret that must go '
  await draft.append(log, { contents: [piece(secret.repeat(10))], shared: [piece(secret.repeat(1_000))] })
  await log.putInbox(scopeA, { id: 'c1', name: 'steer', body: secret, at: 'now' })
  await draft.append(log, { answers: [{ id: 'c1', answer: 'ok' }] })
  const everywhere = () => readFileSync(file).includes(secret) || readFileSync(`${file}-wal`).includes(secret)
  expect(everywhere()).toBe(true)
  await draft.append(log, { erase: true })
  expect(everywhere()).toBe(false)
})

test('a damaged page is LOG_CORRUPT, whichever it is and whatever is asked', async () => {
  const file = tempFile()
  const log = sqliteLog(file)
  const draft = await claimed(log, scopeA)
  for (let i = 0; i < 20; i += 1) await draft.append(log, { contents: [{ digest: 'd', body: 'x'.repeat(2_000) }] })
  await log.saveSnapshot(scopeA, { seq: 1, hash: 'h', revision: 1, body: 'y'.repeat(20_000) })
  await log.close()
  const whole = readFileSync(file)
  const pageBytes = whole.readUInt16BE(16)
  const seen = new Set<unknown>()
  for (let at = 0; at < whole.length; at += pageBytes) {
    const bytes = Buffer.from(whole)
    bytes.fill(0xff, Math.max(at, 100), at + pageBytes)
    writeFileSync(file, bytes)
    for (const ask of everyQuestion) seen.add(await codeOf(file, ask))
  }
  // Where the page is one that nobody asked for, the answer is as before.
  expect([...seen].sort()).toEqual(['LOG_CORRUPT', null].sort())
})

const everyQuestion: readonly ((log: Log) => Promise<unknown>)[] = [
  (log) => log.read(scopeA, { limit: 100 }),
  (log) => log.content(scopeA, [{ digest: 'd', step: 2 }]),
  (log) => log.heads({ limit: 10 }),
  (log) => log.tail(0, 100),
  (log) => log.loadSnapshot(scopeA),
  (log) => log.inbox(scopeA, 10),
  (log) => log.sessionCount(),
  (log) => claimed(log, scopeA),
]

/** The code of what an opened file answers; null: it answers. */
async function codeOf(file: string, ask: (log: Log) => Promise<unknown>): Promise<unknown> {
  let log: Log | null = null
  try {
    log = sqliteLog(file)
    await ask(log)
    return null
  } catch (error) {
    return error instanceof LandfallError ? error.code : error
  } finally {
    await log?.close()
  }
}

test('content is found by step number, however uneven the steps are', async () => {
  const sizes = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.integer({ min: 1, max: 45 }), { maxLength: 20 }), async (counts, asked) => {
      const log = sqliteLog(':memory:')
      const [draft, other] = [await claimed(log, scopeA), await claimed(log, scopeB)]
      for (const count of counts) {
        await draft.append(log, { count, contents: [{ digest: 'd', body: `step ${draft.step + 1}` }] })
        await other.append(log, { count: 1 })
      }
      const found = await log.content(
        scopeA,
        asked.map((step) => ({ digest: 'd', step })),
      )
      expect(found).toEqual(asked.map((step) => (step <= counts.length ? `step ${step}` : null)))
      await log.close()
    }),
    { numRuns: 60 },
  )
})

test('releases of one turn share a transaction and are all done', async () => {
  const log = openLog(tempFile())
  const scopes = Array.from({ length: 50 }, (_, i) => ({ ...scopeA, session: `s${i}` }))
  for (const scope of scopes) await (await claimed(log, scope)).append(log, { unfinished: true })
  await Promise.all(scopes.map((scope) => log.release(scope, { id: here.id, epoch: 1 })))
  expect(await log.heads({ orphaned: true, limit: 100 })).toHaveLength(50)
})
