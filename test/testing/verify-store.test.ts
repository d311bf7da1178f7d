import type Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { memoryLog, openRuntime, scriptedModel } from '../../src/index.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { verifyStore } from '../../src/testing/public.ts'
import { tempFile } from '../log/temp-store.ts'
import { alice, bob, sidOf, storeWith, tamper, twoSessions, verdicts } from './stored-sessions.ts'

const found = (all: Awaited<ReturnType<typeof verdicts>>) =>
  all.flatMap(({ user, violations }) => violations.map(({ invariant, seq }) => `${user} ${invariant} ${seq}`))

async function tampered(change: (db: Database.Database, sid: number) => void): Promise<readonly string[]> {
  const file = tempFile()
  await twoSessions(file)
  tamper(file, (db) => change(db, sidOf(db, alice)))
  return found(await verdicts(file))
}

/** first_seq of the nth step of alice's session, from the end when negative. */
function stepAt(db: Database.Database, sid: number, at: number): { cursor: number; first_seq: number; count: number } {
  const steps = db.prepare('SELECT cursor, first_seq, count FROM steps WHERE sid = ? ORDER BY first_seq').all(sid)
  return steps.at(at) as { cursor: number; first_seq: number; count: number }
}

describe('a store that nobody touched', () => {
  it('verifies: every fact, every request and the head of each session', async () => {
    const file = tempFile()
    await twoSessions(file)
    const all = await verdicts(file)
    expect(found(all)).toEqual([])
    expect(all.map(({ ok, user, session, requests }) => ({ ok, user, session, requests }))).toEqual([
      { ok: true, user: 'alice', session: 'talk', requests: 6 },
      { ok: true, user: 'bob', session: 'talk', requests: 2 },
    ])
    const log = sqliteLog(file, { readonly: true })
    const head = await log.head(alice)
    expect(all[0]).toMatchObject({ facts: head?.seq, head: head?.hash })
    await log.close()
  })

  it('narrows to a user or a session', async () => {
    const file = tempFile()
    await twoSessions(file)
    expect((await verdicts(file, { user: 'bob' })).map(({ user }) => user)).toEqual(['bob'])
    expect(await verdicts(file, { session: 'never opened' })).toEqual([])
  })

  it('verifies after an erase and says how many requests are gone', async () => {
    const file = tempFile()
    await twoSessions(file)
    await storeWith(file, async (of) => {
      await of(alice).erase()
    })
    const [erased, other] = await verdicts(file)
    expect(erased).toMatchObject({ ok: true, requests: 0, erased: 6, violations: [] })
    expect(other).not.toHaveProperty('erased')
  })

  it('verifies the control stream, which has neither charts nor content', async () => {
    const log = memoryLog()
    const runtime = await openRuntime({ log, model: scriptedModel({}) })
    await runtime.sessions({ elevated: { actor: 'auditor', scope: 'fleet' } })
    await runtime.close()
    const all = []
    for await (const verdict of verifyStore(log)) all.push(verdict)
    expect(all).toMatchObject([{ ok: true, session: '_control', facts: 1, requests: 0 }])
  })

  it('verifies a memory log while a turn is under way', async () => {
    const log = memoryLog()
    const runtime = await openRuntime({ log, model: scriptedModel({ everyTurn: [{ hang: true }] }) })
    await runtime.session(alice).start('Wait.')
    const all = []
    for await (const verdict of verifyStore(log)) all.push(verdict)
    expect(all).toMatchObject([{ ok: true, requests: 1 }])
    await runtime.session(alice).cancel()
    await runtime.close()
  })
})

describe('a tampered store', () => {
  it('INV-09: an edited record, in the middle and at the end', async () => {
    for (const at of [0, -1]) {
      let seq = 0
      const all = await tampered((db, sid) => {
        const edit = `SELECT cursor, first_seq FROM steps WHERE sid = ? AND body LIKE '%"durationMs":%' ORDER BY first_seq`
        const step = db.prepare<[number], { cursor: number; first_seq: number }>(edit).all(sid).at(at)
        seq = step?.first_seq ?? 0
        db.prepare(`UPDATE steps SET body = replace(body, '"durationMs":', '"durationMs":1') WHERE cursor = ?`).run(
          step?.cursor,
        )
      })
      expect(all).toEqual([`alice INV-09 ${seq}`])
    }
  })

  it('INV-07 and INV-09: a deleted record, in the middle', async () => {
    let next = 0
    const all = await tampered((db, sid) => {
      const { cursor, first_seq, count } = stepAt(db, sid, 2)
      next = first_seq + count
      db.prepare('DELETE FROM steps WHERE cursor = ?').run(cursor)
    })
    expect(all).toContain(`alice INV-07 ${next}`)
    expect(all).toContain(`alice INV-09 ${next}`)
  })

  it('INV-09: a deleted record, the last one', async () => {
    let seq = 0
    const all = await tampered((db, sid) => {
      const { cursor, first_seq } = stepAt(db, sid, -1)
      seq = first_seq
      db.prepare('DELETE FROM steps WHERE cursor = ?').run(cursor)
    })
    expect(all).toEqual([`alice INV-09 ${seq}`])
  })

  it('INV-09: a record cut short', async () => {
    let seq = 0
    const all = await tampered((db, sid) => {
      const { cursor, first_seq } = stepAt(db, sid, -1)
      seq = first_seq
      db.prepare('UPDATE steps SET body = substr(body, 1, length(body) / 2) WHERE cursor = ?').run(cursor)
    })
    expect(all).toContain(`alice INV-09 ${seq}`)
  })

  it('INV-09: records of the wrong kind are findings and no crash', async () => {
    for (const change of [
      'UPDATE steps SET body = NULLIF(1, 2) || body WHERE cursor = ?',
      'UPDATE steps SET count = -3 WHERE cursor = ?',
      'UPDATE steps SET count = 4000000 WHERE cursor = ?',
      `UPDATE steps SET hash = 'x' WHERE cursor = ?`,
      'UPDATE steps SET step = 9 WHERE cursor = ?',
      `UPDATE steps SET body = '[1]' WHERE cursor = ?`,
    ]) {
      const all = await tampered((db, sid) => {
        db.pragma('ignore_check_constraints = ON')
        const { cursor } = stepAt(db, sid, 1)
        try {
          db.prepare(change).run(cursor)
        } catch {
          db.prepare(`UPDATE steps SET body = '' WHERE cursor = ?`).run(cursor)
        }
      })
      expect(all, change).toSatisfy((lines: string[]) => lines.some((line) => /^alice INV-0[79] \d+$/.test(line)))
      expect(all.join('\n')).not.toContain('bob')
    }
  })

  it('INV-09: a whole session taken away, with and without its head', async () => {
    const headLeft = await tampered((db, sid) => void db.prepare('DELETE FROM steps WHERE sid = ?').run(sid))
    expect(headLeft).toEqual(['alice INV-09 1'])
    const nothingLeft = await tampered((db, sid) => {
      db.prepare('DELETE FROM steps WHERE sid = ?').run(sid)
      db.prepare('DELETE FROM sessions WHERE sid = ?').run(sid)
    })
    expect(nothingLeft).toEqual(['_store INV-09 0'])
    const headHidden = await tampered(
      (db, sid) => void db.prepare('UPDATE sessions SET seq = 0 WHERE sid = ?').run(sid),
    )
    expect(headHidden).toEqual([expect.stringMatching(/^alice INV-09 \d+$/), '_store INV-09 0'])
  })

  it('INV-09: a session and its count taken away is found by a head kept elsewhere', async () => {
    const file = tempFile()
    await twoSessions(file)
    const before = await verdicts(file)
    const heads = before.map(({ tenant, user, session, facts, head }) => ({
      tenant,
      user,
      session,
      seq: facts,
      hash: head,
    }))
    expect(found(await verdicts(file, {}, heads))).toEqual([])
    tamper(file, (db) => {
      const sid = sidOf(db, bob)
      db.prepare('DELETE FROM steps WHERE sid = ?').run(sid)
      db.prepare('DELETE FROM sessions WHERE sid = ?').run(sid)
      db.prepare('UPDATE store SET sessions = sessions - 1').run()
    })
    expect(found(await verdicts(file))).toEqual([])
    expect(found(await verdicts(file, {}, heads))).toEqual(['bob INV-09 1'])
  })

  it('INV-09: a history cut back with its head is found by a head kept elsewhere', async () => {
    const file = tempFile()
    await twoSessions(file)
    const kept = (await verdicts(file)).map(({ facts, head, ...scope }) => ({ ...scope, seq: facts, hash: head }))
    let seq = 0
    tamper(file, (db) => {
      const sid = sidOf(db, bob)
      seq = stepAt(db, sid, -1).first_seq
      db.prepare('DELETE FROM steps WHERE sid = ? AND first_seq = ?').run(sid, seq)
      db.prepare(
        'UPDATE sessions SET (seq, step, hash) = (SELECT first_seq + count - 1, step, hash FROM steps WHERE sid = ? ORDER BY first_seq DESC LIMIT 1) WHERE sid = ?',
      ).run(sid, sid)
    })
    expect(found(await verdicts(file))).toEqual([])
    expect(found(await verdicts(file, {}, kept))).toEqual([`bob INV-09 ${seq}`])
  })

  it('INV-09: a head that cannot be read does not hide the sessions', async () => {
    const all = await tampered((db, sid) => void db.prepare(`UPDATE sessions SET summary = '{' WHERE sid = ?`).run(sid))
    expect(all).toContain('alice INV-09 1')
    expect(all.join('\n')).not.toContain('bob')
  })

  it('INV-14: content changed or missing', async () => {
    const changed = await tampered((db, sid) => {
      const { changes } = db
        .prepare(`UPDATE steps SET contents = replace(contents, 'How is Oslo?', 'How is Rome?') WHERE sid = ?`)
        .run(sid)
      expect(changes).toBeGreaterThan(0)
    })
    expect(changed.length).toBeGreaterThan(0)
    expect(changed).toSatisfy((lines: string[]) => lines.every((line) => line.startsWith('alice INV-14')))
    const missing = await tampered(
      (db, sid) => void db.prepare('UPDATE steps SET contents = NULL WHERE sid = ? AND first_seq = 1').run(sid),
    )
    expect(missing.length).toBeGreaterThan(0)
    expect(missing).toSatisfy((lines: string[]) => lines.every((line) => line.startsWith('alice INV-14')))
    const garbage = await tampered(
      (db, sid) => void db.prepare(`UPDATE steps SET contents = '[' WHERE sid = ? AND first_seq = 1`).run(sid),
    )
    expect(garbage).toEqual(missing)
  })

  it('INV-14: the definition of a tool, or the system text, changed', async () => {
    for (const text of ['Tells the weather', 'Be brief']) {
      const all = await tampered((db, sid) => {
        const { changes } = db
          .prepare('UPDATE shared SET body = replace(body, ?, ?) WHERE sid = ?')
          .run(text, 'Tells lies', sid)
        expect(changes).toBeGreaterThan(0)
      })
      expect(all.length, text).toBeGreaterThan(0)
      expect(all).toSatisfy((lines: string[]) => lines.every((line) => line.startsWith('alice INV-14')))
    }
  })

  it('INV-14: the key taken away without an erase', async () => {
    expect(
      await tampered((db, sid) => void db.prepare('UPDATE sessions SET key = NULL WHERE sid = ?').run(sid)),
    ).toEqual(['alice INV-14 1'])
  })
})
