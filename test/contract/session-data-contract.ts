import { expect, test } from 'vitest'
import type { Owner } from '../../src/facts/envelope.ts'
import type { InboxEntry, Log } from '../../src/facts/log-port.ts'
import { alsoHere, claimed, committed, here, type LogStore, piece, refusal, scopeA, scopeB } from './log-harness.ts'

/** What goes with a session: snapshot, inbox, erasure, and the notice of commits. */
export function sessionDataContract(open: () => Promise<Log>, store: () => LogStore): void {
  snapshotAndInbox(open)
  settling(open, store)
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

  test('an entry put again while it waits is one entry; another command under its id is a conflict', async () => {
    const log = await open()
    await log.putInbox(scopeA, entry('c1'))
    await log.putInbox(scopeA, entry('c1'))
    await expect(log.putInbox(scopeA, entry('c1', '{"other":1}'))).rejects.toMatchObject({ code: 'COMMAND_CONFLICT' })
    expect(await log.inbox(scopeA, 10)).toHaveLength(1)
  })

  test('an entry put again after its answer waits again, behind the others, and its old answer is gone', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    await log.putInbox(scopeA, entry('c1'))
    await draft.append(log, { answers: [{ id: 'c1', answer: 'done' }] })
    await log.putInbox(scopeA, entry('c2'))
    await log.putInbox(scopeA, entry('c1', '{"other":1}'))
    expect(await log.inbox(scopeA, 10)).toEqual([entry('c2'), entry('c1', '{"other":1}')])
    expect(await log.inboxAnswer(scopeA, 'c1')).toBeNull()
  })
}

function settling(open: () => Promise<Log>, store: () => LogStore): void {
  test('an entry that led to no step is answered and removed by the owner', async () => {
    const log = await open()
    const { owner } = await claimed(log, scopeA)
    for (const id of ['c1', 'c2']) await log.putInbox(scopeA, entry(id))
    expect(await log.settleInbox(scopeA, owner as Owner, { id: 'c1', answer: 'refused' })).toBe(true)
    expect(await log.inbox(scopeA, 10)).toEqual([entry('c2')])
    expect([await log.inboxAnswer(scopeA, 'c1'), await log.inboxAnswer(scopeA, 'c2')]).toEqual(['refused', null])
    expect(await log.head(scopeA)).toBeNull()
  })

  test('nobody but the owner settles: not another instance, not an old epoch, and nobody without a claim', async () => {
    const log = await open()
    await log.putInbox(scopeA, entry('c1'))
    const settle = (owner: Owner) => log.settleInbox(scopeA, owner, { id: 'c1', answer: 'no' })
    expect(await settle({ id: here.id, epoch: 1 })).toBe(false)
    const { owner } = await claimed(log, scopeA)
    const { id, epoch } = owner as Owner
    expect(await settle({ id: alsoHere.id, epoch })).toBe(false)
    expect(await settle({ id, epoch: epoch + 1 })).toBe(false)
    store().host.kill(here.pid)
    const next = await claimed(log, scopeA, alsoHere)
    expect(await settle(owner as Owner)).toBe(false)
    expect(await log.inbox(scopeA, 10)).toHaveLength(1)
    expect(await log.inboxAnswer(scopeA, 'c1')).toBeNull()
    expect(await settle(next.owner as Owner)).toBe(true)
    expect(await log.settleInbox(scopeB, next.owner as Owner, { id: 'c1', answer: 'no' })).toBe(false)
  })

  test('an entry that waits no more keeps the answer that it was given', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    await log.putInbox(scopeA, entry('c1'))
    await draft.append(log, { answers: [{ id: 'c1', answer: 'done' }] })
    await log.settleInbox(scopeA, draft.owner as Owner, { id: 'c1', answer: 'failed' })
    await log.settleInbox(scopeA, draft.owner as Owner, { id: 'never-put', answer: 'failed' })
    expect(await log.inboxAnswer(scopeA, 'c1')).toBe('done')
    expect(await log.inboxAnswer(scopeA, 'never-put')).toBeNull()
  })

  test('sessions with waiting entries are listed, also those that were never opened', async () => {
    const log = await open()
    expect(await log.pendingInbox(10)).toEqual([])
    for (const id of ['c1', 'c2']) await log.putInbox(scopeB, entry(id))
    await log.putInbox(scopeA, entry('c1'))
    const listed = async () => (await log.pendingInbox(10)).map((scope) => scope.session).sort()
    expect(await listed()).toEqual(['a', 'b'])
    expect(await log.pendingInbox(1)).toHaveLength(1)
    const draft = await claimed(log, scopeA)
    await draft.append(log, { answers: [{ id: 'c1', answer: 'done' }] })
    expect(await listed()).toEqual(['b'])
    const { owner } = await claimed(log, scopeB)
    for (const id of ['c1', 'c2']) await log.settleInbox(scopeB, owner as Owner, { id, answer: 'no' })
    expect(await log.pendingInbox(10)).toEqual([])
  })

  test('an erase takes the waiting entries with it', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    await log.putInbox(scopeA, entry('c1'))
    await draft.append(log, { erase: true })
    expect(await log.pendingInbox(10)).toEqual([])
  })

  test('a watcher hears that an entry was settled', async () => {
    const log = await open()
    const { owner } = await claimed(log, scopeA)
    await log.putInbox(scopeA, entry('c1'))
    await new Promise((resolve) => setTimeout(resolve, 60))
    const heard = new Promise<void>((resolve) => log.watch(resolve))
    await log.settleInbox(scopeA, owner as Owner, { id: 'c1', answer: 'no' })
    await heard
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
