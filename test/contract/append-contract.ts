import { expect, test } from 'vitest'
import { unpackStep } from '../../src/facts/codec.ts'
import { limits } from '../../src/facts/limits.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { claimed, committed, piece, refusal, scopeA, scopeB } from './log-harness.ts'

/** Order, atomicity, redelivery and conflicts. */
export function appendContract(open: () => Promise<Log>): void {
  orderAndRedelivery(open)
  conflicts(open)
  partialBatches(open)
}

function orderAndRedelivery(open: () => Promise<Log>): void {
  test('steps come back as they were written, in order, with gap-free seq (INV-07)', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const steps = [draft.next({ count: 1 }), draft.next({ count: 3 }), draft.next({ count: 2 })]
    for (const step of steps) committed(await log.append([step]))
    const read = await log.read(scopeA, { limit: 10 })
    expect(read.map(({ cursor, ...step }) => step)).toEqual(
      steps.map(({ scope, step, firstSeq, count, prev, hash, body }) => ({
        scope,
        step,
        firstSeq,
        count,
        prev,
        hash,
        body,
      })),
    )
    expect(read.flatMap((step) => unpackStep(step)).map((fact) => fact.seq)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('cursors strictly increase over all sessions and are those of the facts (INV-07)', async () => {
    const log = await open()
    const [a, b] = [await claimed(log, scopeA), await claimed(log, scopeB)]
    const results = await log.append([a.next(), b.next({ count: 3 }), a.next({ count: 1 }), b.next()])
    const cursors = results.map((result) => (result.ok ? result.cursor : -1))
    expect(cursors.map((cursor) => cursor - (cursors[0] as number))).toEqual([0, 3, 4, 6])
    const facts = (await log.tail(0, 10)).flatMap((step) => unpackStep(step))
    expect(facts.map((fact) => fact.cursor)).toEqual(facts.map((_, i) => (facts[0]?.cursor ?? 0) + i))
    expect(await log.lastCursor()).toBe(cursors[3])
  })

  test('a step that comes again is one step', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const first = draft.next({ contents: [piece('hello')] })
    const cursor = committed(await log.append([first]))
    await draft.append(log)
    expect(await log.append([first])).toEqual([{ ok: true, cursor, duplicate: true }])
    expect(await log.read(scopeA, { limit: 10 })).toHaveLength(2)
    expect((await log.head(scopeA))?.seq).toBe(4)
  })

  test('a step that comes twice in one batch is one step', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const step = draft.next()
    const results = await log.append([step, step])
    expect(results).toMatchObject([{ duplicate: false }, { duplicate: true }])
    expect(await log.read(scopeA, { limit: 10 })).toHaveLength(1)
  })

  test('a step that comes again beside new ones takes no cursor from them', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const first = draft.next({ count: 5 })
    await log.append([first])
    await draft.append(log, { count: 3 })
    const results = await log.append([first, draft.next({ count: 1 })])
    expect(results).toEqual([
      { ok: true, cursor: 5, duplicate: true },
      { ok: true, cursor: 9, duplicate: false },
    ])
  })
}

function conflicts(open: () => Promise<Log>): void {
  test('a taken place or a used id with other content is EVENT_CONFLICT', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const rival = draft.peek({ count: 1 })
    const first = draft.next()
    committed(await log.append([first]))
    expect(await log.append([rival])).toEqual([refusal('EVENT_CONFLICT', { seq: 1 })])
    expect(await log.append([{ ...first, body: first.body.replace('"attempt":1', '"attempt":2') }])).toEqual([
      refusal('EVENT_CONFLICT'),
    ])
    expect(await log.append([draft.peek({ firstId: first.lastId })])).toEqual([
      refusal('EVENT_CONFLICT', { id: first.lastId }),
    ])
    expect(await log.read(scopeA, { limit: 10 })).toHaveLength(1)
  })

  test('a hole in seq or step, or a broken chain, is EVENT_CONFLICT (INV-09)', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    await draft.append(log)
    const next = draft.peek()
    expect(await log.append([{ ...next, firstSeq: 4 }])).toEqual([refusal('EVENT_CONFLICT', { expected: 3, got: 4 })])
    expect(await log.append([{ ...next, step: 3 }])).toEqual([refusal('EVENT_CONFLICT', { expected: 2, got: 3 })])
    expect(await log.append([{ ...next, prev: 'ab'.repeat(32) }])).toEqual([refusal('EVENT_CONFLICT', { seq: 3 })])
    expect(await log.append([next])).toMatchObject([{ ok: true, duplicate: false }])
  })
}

function partialBatches(open: () => Promise<Log>): void {
  test('a refused step leaves nothing behind and does not fail the others of its batch', async () => {
    const log = await open()
    const [a, b] = [await claimed(log, scopeA), await claimed(log, scopeB)]
    const bad = { ...a.peek({ contents: [piece('lost')], shared: [piece('lost too')], key: 'ab'.repeat(32) }), step: 9 }
    const results = await log.append([b.next(), bad, b.next()])
    expect(results.map((result) => result.ok)).toEqual([true, false, true])
    expect(await log.head(scopeA)).toBeNull()
    expect(await log.content(scopeA, [{ digest: piece('lost').digest, step: 1 }])).toEqual([null])
    expect(await log.content(scopeA, [{ digest: piece('lost too').digest, step: 0 }])).toEqual([null])
    expect(await log.sessionCount()).toBe(1)
    committed(await log.append([a.next()]))
    expect((await log.tail(0, 10)).map((step) => step.scope.session)).toEqual(['b', 'b', 'a'])
  })

  test('the steps after a refused one of the same session are refused too', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const [first, second] = [draft.next(), draft.next()]
    const results = await log.append([{ ...first, prev: 'ab'.repeat(32) }, second])
    expect(results).toEqual([refusal('EVENT_CONFLICT'), refusal('EVENT_CONFLICT')])
  })

  test('a piece of content beyond the bound fails its own step alone', async () => {
    const log = await open()
    const [a, b] = [await claimed(log, scopeA), await claimed(log, scopeB)]
    const huge = { digest: piece('huge').digest, body: 'é'.repeat(limits.contentBytes / 2 + 1) }
    const results = await log.append([a.peek({ contents: [huge] }), a.peek({ shared: [huge] }), b.next()])
    const bound = { which: 'contentBytes', bound: limits.contentBytes, got: limits.contentBytes + 2 }
    expect(results).toEqual([
      refusal('LIMIT_EXCEEDED', bound),
      refusal('LIMIT_EXCEEDED', bound),
      expect.objectContaining({ ok: true }),
    ])
    const fitting = { ...huge, body: 'é'.repeat(limits.contentBytes / 2) }
    committed(await log.append([a.next({ contents: [fitting] })]))
    expect((await log.content(scopeA, [{ digest: huge.digest, step: 1 }]))[0]).toHaveLength(limits.contentBytes / 2)
  })

  test('an empty batch changes nothing', async () => {
    const log = await open()
    expect(await log.append([])).toEqual([])
    expect(await log.lastCursor()).toBe(0)
  })
}
