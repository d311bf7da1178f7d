import { expect, test } from 'vitest'
import type { Head, Log } from '../../src/facts/log-port.ts'
import type { Scope } from '../../src/facts/scope.ts'
import { claimed, committed, here, piece, scopeA, scopeB } from './log-harness.ts'

/** Pages, heads, content and scopes. */
export function readingContract(open: () => Promise<Log>): void {
  pages(open)
  heads(open)
  contents(open)
}

function pages(open: () => Promise<Log>): void {
  test('a session that nobody wrote to is empty', async () => {
    const log = await open()
    expect(await log.read(scopeA, { limit: 10 })).toEqual([])
    expect(await log.head(scopeA)).toBeNull()
    expect(await log.content(scopeA, [{ digest: piece('x').digest, step: 0 }])).toEqual([null])
    await log.claim(scopeA, here)
    expect(await log.head(scopeA)).toBeNull()
    expect(await log.heads({ limit: 10 })).toEqual([])
    expect(await log.sessionCount()).toBe(0)
  })

  test('reading starts at the step that holds the first fact after a seq', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    for (let i = 0; i < 4; i += 1) await draft.append(log, { count: 3 })
    const starts = async (after: number) => (await log.read(scopeA, { after, limit: 10 })).map((step) => step.firstSeq)
    expect(await starts(0)).toEqual([1, 4, 7, 10])
    expect(await starts(2)).toEqual([1, 4, 7, 10])
    expect(await starts(3)).toEqual([4, 7, 10])
    expect(await starts(4)).toEqual([4, 7, 10])
    expect(await starts(11)).toEqual([10])
    expect(await starts(12)).toEqual([])
    expect(await starts(99)).toEqual([])
  })

  test('reading and tailing page by steps, by seq and by cursor', async () => {
    const log = await open()
    const [a, b] = [await claimed(log, scopeA), await claimed(log, scopeB)]
    for (let i = 0; i < 5; i += 1) committed(await log.append([a.next(), b.next()]))
    const pages: number[] = []
    for (let after = 0; ; ) {
      const page = await log.read(scopeA, { after, limit: 2 })
      const last = page.at(-1)
      if (last === undefined) break
      pages.push(page.length)
      after = last.firstSeq + last.count - 1
    }
    expect(pages).toEqual([2, 2, 1])
    const all = await log.read(scopeA, { limit: 100 })
    const third = all[2]?.cursor ?? 0
    expect(await log.read(scopeA, { afterCursor: third, limit: 100 })).toEqual(all.slice(3))
    expect(await log.read(scopeA, { afterCursor: third - 1, limit: 1 })).toEqual([all[2]])
    const tail = await log.tail(0, 100)
    expect(tail.map((step) => step.scope.session).join('')).toBe('ababababab')
    expect(await log.tail(tail[3]?.cursor ?? 0, 2)).toEqual(tail.slice(4, 6))
    expect(await log.tail(await log.lastCursor(), 5)).toEqual([])
  })
}

function heads(open: () => Promise<Log>): void {
  test('a head says where its session is', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const summary = { state: 'open', title: 'Shop', active: 'T1', queued: 2, quarantined: 1 } as const
    const step = draft.next({ summary, unfinished: true, key: 'cd'.repeat(32), at: '2026-02-03T04:05:06.007Z' })
    committed(await log.append([step]))
    const head: Head = {
      scope: scopeA,
      seq: 2,
      step: 1,
      hash: step.hash,
      lastId: step.lastId,
      updatedAt: '2026-02-03T04:05:06.007Z',
      summary,
      unfinished: true,
      owner: draft.owner,
      key: 'cd'.repeat(32),
    }
    expect(await log.head(scopeA)).toEqual(head)
    await draft.append(log)
    expect(await log.head(scopeA)).toMatchObject({
      seq: 4,
      step: 2,
      unfinished: false,
      key: 'cd'.repeat(32),
      hash: draft.hash,
    })
  })

  test('heads are listed in order of their scopes, filtered and paged', async () => {
    const log = await open()
    const scopes: Scope[] = []
    for (const tenant of ['t2', 't1']) {
      for (const user of ['v', 'u']) {
        for (const session of ['s2', 's10', 's1']) scopes.push({ tenant, user, session })
      }
    }
    for (const scope of scopes) await (await claimed(log, scope)).append(log)
    const names = (heads: readonly Head[]) => heads.map(({ scope }) => `${scope.tenant}/${scope.user}/${scope.session}`)
    const all = await log.heads({ limit: 100 })
    expect(names(all)).toEqual(names(scopes.map((scope) => ({ ...(all[0] as Head), scope }))).toSorted())
    expect(await log.sessionCount()).toBe(12)
    expect(names(await log.heads({ tenant: 't1', user: 'v', limit: 100 }))).toEqual(['t1/v/s1', 't1/v/s10', 't1/v/s2'])
    expect(names(await log.heads({ session: 's10', tenant: 't2', limit: 100 }))).toEqual(['t2/u/s10', 't2/v/s10'])
    const page = await log.heads({ limit: 5, after: (all[3] as Head).scope })
    expect(names(page)).toEqual(names(all.slice(4, 9)))
    expect(await log.heads({ tenant: 't1', limit: 100, after: (all[11] as Head).scope })).toEqual([])
  })
}

function contents(open: () => Promise<Log>): void {
  test('content is found by step and digest, and shared content by digest', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const odd = piece('{"quote":"\\"","nul":"\u0000","line":"\n","emoji":"😀"}')
    await draft.append(log, { contents: [piece('one'), odd, piece('')], shared: [piece('schema')] })
    await draft.append(log, { contents: [piece('two')], shared: [piece('schema')] })
    const refs = [
      { digest: odd.digest, step: 1 },
      { digest: piece('two').digest, step: 2 },
      { digest: piece('one').digest, step: 1 },
      { digest: piece('').digest, step: 1 },
      { digest: piece('schema').digest, step: 0 },
      { digest: piece('one').digest, step: 2 },
      { digest: piece('one').digest, step: 0 },
      { digest: piece('schema').digest, step: 1 },
      { digest: piece('one').digest, step: 7 },
    ]
    expect(await log.content(scopeA, refs)).toEqual([odd.body, 'two', 'one', '', 'schema', null, null, null, null])
  })

  test('nothing of one scope is seen in another (INV-21)', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    await draft.append(log, { contents: [piece('mine')], shared: [piece('shared')] })
    await log.putInbox(scopeA, { id: 'c1', name: 'start', body: '{}', at: '2026-01-01T00:00:00.000Z' })
    await log.saveSnapshot(scopeA, { seq: 2, hash: draft.hash, revision: 1, body: '{}' })
    const others: Scope[] = [scopeB, { ...scopeA, tenant: 'x' }, { ...scopeA, user: 'x' }]
    for (const other of others) {
      await (await claimed(log, other)).append(log)
      expect(await log.content(other, [{ digest: piece('mine').digest, step: 1 }])).toEqual([null])
      expect(await log.content(other, [{ digest: piece('shared').digest, step: 0 }])).toEqual([null])
      expect(await log.inbox(other, 10)).toEqual([])
      expect(await log.loadSnapshot(other)).toBeNull()
      expect((await log.read(other, { limit: 10 })).map((step) => step.scope)).toEqual([other])
    }
  })

  test('a store has one epoch that does not change', async () => {
    const log = await open()
    const epoch = await log.epoch()
    expect(epoch).toMatch(/^[0-9a-z]{8,}$/)
    await (await claimed(log, scopeA)).append(log)
    expect(await log.epoch()).toBe(epoch)
    expect(await (await open()).epoch()).toBe(epoch)
  })
}
