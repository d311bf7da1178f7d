import { expect, test } from 'vitest'
import type { InboxEntry, Log } from '../../src/facts/log-port.ts'
import { claimed, committed, piece, refusal, scopeA, scopeB } from './log-harness.ts'

/** What goes with a session: snapshot, inbox, erasure, and the notice of commits. */
export function sessionDataContract(open: () => Promise<Log>): void {
  snapshotAndInbox(open)
  erasure(open)
  watching(open)
}

function entry(id: string, body = '{}'): InboxEntry {
  return { id, name: 'steer', body, at: '2026-01-01T00:00:00.000Z' }
}

function snapshotAndInbox(open: () => Promise<Log>): void {
  test('saving a snapshot is compare-and-swap; an older one never rewinds a newer one', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    await draft.append(log)
    const snapshot = (revision: number) => ({ seq: 2, hash: draft.hash, revision, body: `{"r":${revision}}` })
    expect(await log.loadSnapshot(scopeA)).toBeNull()
    expect(await log.saveSnapshot(scopeA, snapshot(2))).toBe(false)
    expect(await log.saveSnapshot(scopeA, snapshot(1))).toBe(true)
    expect(await log.saveSnapshot(scopeA, snapshot(1))).toBe(false)
    expect(await log.saveSnapshot(scopeA, snapshot(2))).toBe(true)
    expect(await log.saveSnapshot(scopeA, snapshot(1))).toBe(false)
    expect(await log.loadSnapshot(scopeA)).toEqual(snapshot(2))
    expect(await log.saveSnapshot(scopeB, snapshot(1))).toBe(false)
  })

  test('inbox entries are kept in order and answered in the step that carries them out', async () => {
    const log = await open()
    for (const id of ['c2', 'c1', 'c3']) await log.putInbox(scopeA, entry(id))
    expect(await log.inbox(scopeA, 10)).toEqual([entry('c2'), entry('c1'), entry('c3')])
    expect(await log.inbox(scopeA, 2)).toHaveLength(2)
    expect(await log.inboxAnswer(scopeA, 'c2')).toBeNull()
    const draft = await claimed(log, scopeA)
    expect((await log.append([{ ...draft.peek({ answers: [{ id: 'c2', answer: 'no' }] }), step: 5 }]))[0]?.ok).toBe(
      false,
    )
    expect(await log.inbox(scopeA, 10)).toHaveLength(3)
    await draft.append(log, {
      answers: [
        { id: 'c2', answer: '{"ok":true}' },
        { id: 'c3', answer: 'x' },
      ],
    })
    expect(await log.inbox(scopeA, 10)).toEqual([entry('c1')])
    expect(await log.inboxAnswer(scopeA, 'c2')).toBe('{"ok":true}')
    expect(await log.inboxAnswer(scopeB, 'c2')).toBeNull()
  })

  test('an entry put again is one entry, also when it was answered; another command under its id is a conflict', async () => {
    const log = await open()
    await log.putInbox(scopeA, entry('c1'))
    await log.putInbox(scopeA, entry('c1'))
    await expect(log.putInbox(scopeA, entry('c1', '{"other":1}'))).rejects.toMatchObject({ code: 'COMMAND_CONFLICT' })
    expect(await log.inbox(scopeA, 10)).toHaveLength(1)
    const draft = await claimed(log, scopeA)
    await draft.append(log, { answers: [{ id: 'c1', answer: 'done' }] })
    await log.putInbox(scopeA, entry('c1'))
    expect(await log.inbox(scopeA, 10)).toEqual([])
  })
}

function erasure(open: () => Promise<Log>): void {
  test('erasing takes content, key, inbox and snapshot, and leaves the facts', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const other = await claimed(log, scopeB)
    await draft.append(log, { contents: [piece('secret')], shared: [piece('system')], key: 'ab'.repeat(32) })
    await other.append(log, { contents: [piece('secret')], shared: [piece('system')], key: 'cd'.repeat(32) })
    await log.putInbox(scopeA, entry('c1'))
    await log.putInbox(scopeA, entry('erase-it'))
    await log.saveSnapshot(scopeA, { seq: 2, hash: draft.hash, revision: 1, body: 'secret' })
    const summary = { state: 'erased', queued: 0, quarantined: 0 } as const
    const last = draft.next({
      erase: true,
      summary,
      contents: [piece('last')],
      answers: [{ id: 'erase-it', answer: 'erased' }],
    })
    committed(await log.append([last]))
    const refs = [
      { digest: piece('secret').digest, step: 1 },
      { digest: piece('system').digest, step: 0 },
      { digest: piece('last').digest, step: 2 },
    ]
    expect(await log.content(scopeA, refs)).toEqual([null, null, null])
    expect(await log.content(scopeB, refs.slice(0, 2))).toEqual(['secret', 'system'])
    expect(await log.head(scopeA)).not.toHaveProperty('key')
    expect(await log.head(scopeA)).toMatchObject({ summary, seq: 4 })
    expect(await log.inbox(scopeA, 10)).toEqual([])
    expect(await log.inboxAnswer(scopeA, 'erase-it')).toBe('erased')
    expect(await log.loadSnapshot(scopeA)).toBeNull()
    expect(await log.read(scopeA, { limit: 10 })).toHaveLength(2)
    expect(await log.sessionCount()).toBe(2)
  })

  test('an erased session takes nothing more but the redelivery of its last step', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    await draft.append(log)
    const last = draft.next({ erase: true })
    committed(await log.append([last]))
    expect(await log.append([last])).toMatchObject([{ ok: true, duplicate: true }])
    expect(await log.append([draft.peek()])).toEqual([refusal('SESSION_ERASED')])
    await expect(log.putInbox(scopeA, entry('c9'))).rejects.toMatchObject({ code: 'SESSION_ERASED' })
    expect(await log.saveSnapshot(scopeA, { seq: 4, hash: draft.hash, revision: 1, body: '{}' })).toBe(false)
  })
}

function watching(open: () => Promise<Log>): void {
  test('a watcher is called after a commit and after an inbox entry, not at once and not when it has left', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    let calls = 0
    let wake = () => {}
    const leave = log.watch(() => {
      calls += 1
      wake()
    })
    const called = () => new Promise<void>((resolve) => (wake = resolve))
    const first = called()
    const appended = draft.append(log)
    expect(calls).toBe(0)
    await appended
    await first
    const second = called()
    await log.putInbox(scopeA, entry('c1'))
    await second
    leave()
    const before = calls
    await draft.append(log)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(calls).toBe(before)
  })

  test('a watcher hears of commits made through another opening of the store', async () => {
    const [log, other] = [await open(), await open()]
    const draft = await claimed(other, scopeA)
    const heard = new Promise<void>((resolve) => log.watch(resolve))
    await draft.append(other)
    await heard
    expect(await log.lastCursor()).toBe(2)
  })

  test('two openings of one store see one log', async () => {
    const [log, other] = [await open(), await open()]
    const draft = await claimed(log, scopeA)
    await draft.append(log)
    expect((await other.read(scopeA, { limit: 10 })).length).toBe(1)
    await draft.append(other)
    expect((await log.head(scopeA))?.seq).toBe(4)
    const rival = await claimed(other, scopeB)
    await Promise.all([draft.append(log), rival.append(other), log.putInbox(scopeA, entry('c1'))])
    expect(await other.sessionCount()).toBe(2)
    expect(new Set((await log.tail(0, 10)).map((step) => step.cursor)).size).toBe(4)
  })
}
