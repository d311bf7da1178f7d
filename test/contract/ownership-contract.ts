import { expect, test } from 'vitest'
import { limits } from '../../src/facts/limits.ts'
import type { Log } from '../../src/facts/log-port.ts'
import { controlScope } from '../../src/facts/scope.ts'
import {
  alsoHere,
  claimed,
  committed,
  elsewhere,
  here,
  type LogStore,
  refusal,
  SessionDraft,
  scopeA,
  scopeB,
} from './log-harness.ts'

/** Claims, leases, epochs and the fences of an append. `store` is that of the running test. */
export function ownershipContract(open: () => Promise<Log>, store: () => LogStore): void {
  leases(open, store)
  processes(open, store)
  fences(open)
}

function leases(open: () => Promise<Log>, store: () => LogStore): void {
  test('one instance owns a session; claiming again keeps its epoch', async () => {
    const log = await open()
    expect(await log.claim(scopeA, here)).toEqual({ claimed: true, epoch: 1 })
    expect(await log.claim(scopeA, here)).toEqual({ claimed: true, epoch: 1 })
    expect(await log.claim(scopeA, alsoHere)).toEqual({ claimed: false, owner: { id: here.id, epoch: 1 } })
    expect(await log.claim(scopeB, alsoHere)).toEqual({ claimed: true, epoch: 1 })
  })

  test('the epoch grows with every owner and never decreases (INV-17)', async () => {
    const log = await open()
    await log.claim(scopeA, here)
    await log.release(scopeA, { id: here.id, epoch: 1 })
    expect(await log.claim(scopeA, here)).toEqual({ claimed: true, epoch: 2 })
    await log.release(scopeA, { id: here.id, epoch: 1 })
    expect(await log.claim(scopeA, alsoHere)).toMatchObject({ claimed: false })
    await log.release(scopeA, { id: here.id, epoch: 2 })
    expect(await log.claim(scopeA, alsoHere)).toEqual({ claimed: true, epoch: 3 })
  })

  test('a lease keeps others away until it ends, and renewing prolongs it', async () => {
    const log = await open()
    await log.claim(scopeA, elsewhere)
    await store().advance(limits.leaseMs - 1_000)
    expect(await log.claim(scopeA, here)).toMatchObject({ claimed: false })
    await log.renew(elsewhere)
    await store().advance(limits.leaseMs - 1_000)
    expect(await log.claim(scopeA, here)).toMatchObject({ claimed: false })
    await store().advance(2_000)
    expect(await log.claim(scopeA, here)).toEqual({ claimed: true, epoch: 2 })
  })

  test('renewing brings no lost session back', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA, elsewhere)
    await store().advance(limits.leaseMs + 1)
    await log.claim(scopeA, here)
    await log.renew(elsewhere)
    expect(await log.append([draft.peek()])).toEqual([refusal('OWNERSHIP_LOST')])
    expect(await log.claim(scopeA, elsewhere)).toMatchObject({ claimed: false })
  })
}

function processes(open: () => Promise<Log>, store: () => LogStore): void {
  test('a process of this host that vanished is replaced at once', async () => {
    const log = await open()
    await log.claim(scopeA, here)
    store().host.kill(here.pid)
    expect(await log.claim(scopeA, alsoHere)).toEqual({ claimed: true, epoch: 2 })
  })

  test('another process under the same number does not keep a session', async () => {
    const log = await open()
    await log.claim(scopeA, here)
    store().host.restart(here.pid)
    expect(await log.claim(scopeA, alsoHere)).toEqual({ claimed: true, epoch: 2 })
  })

  test('process numbers of another host say nothing', async () => {
    const log = await open()
    await log.claim(scopeA, { ...elsewhere, pid: 999 })
    expect(await log.claim(scopeA, here)).toMatchObject({ claimed: false })
  })

  test('orphans are sessions with unfinished work and no living owner', async () => {
    const log = await open()
    const names = async () => (await log.heads({ orphaned: true, limit: 10 })).map((head) => head.scope.session)
    for (const [session, unfinished] of [
      ['a', true],
      ['b', false],
      ['c', true],
    ] as const) {
      await (await claimed(log, { ...scopeA, session })).append(log, { unfinished })
    }
    expect(await names()).toEqual([])
    await log.release({ ...scopeA, session: 'c' }, { id: here.id, epoch: 1 })
    expect(await names()).toEqual(['c'])
    store().host.kill(here.pid)
    expect(await names()).toEqual(['a', 'c'])
    expect(await log.heads({ orphaned: true, limit: 1 })).toHaveLength(1)
    const adopted = await log.claim(scopeA, alsoHere)
    expect(adopted.claimed).toBe(true)
    expect(await names()).toEqual(['c'])
  })
}

function fences(open: () => Promise<Log>): void {
  test('a stale owner may not append, not even redeliver (INV-17)', async () => {
    const log = await open()
    const draft = await claimed(log, scopeA)
    const first = draft.next()
    committed(await log.append([first]))
    await log.release(scopeA, { id: here.id, epoch: 1 })
    expect(await log.append([first])).toEqual([refusal('OWNERSHIP_LOST')])
    await log.claim(scopeA, alsoHere)
    expect(await log.append([first, draft.peek()])).toEqual([refusal('OWNERSHIP_LOST'), refusal('OWNERSHIP_LOST')])
    expect(await log.append([{ ...draft.peek(), owner: { id: alsoHere.id, epoch: 1 } }])).toEqual([
      refusal('OWNERSHIP_LOST'),
    ])
    expect(await log.append([{ ...draft.peek(), owner: { id: alsoHere.id, epoch: 2 } }])).toMatchObject([{ ok: true }])
  })

  test('an unowned session takes no step, and only the control stream needs no owner', async () => {
    const log = await open()
    expect(await log.append([new SessionDraft(scopeA, { id: here.id, epoch: 1 }).peek()])).toEqual([
      refusal('OWNERSHIP_LOST'),
    ])
    expect(await log.append([new SessionDraft(scopeA, null).peek()])).toEqual([refusal('OWNERSHIP_LOST')])
    expect(await log.append([new SessionDraft(controlScope, null).peek()])).toMatchObject([{ ok: true }])
  })

  test('a step decided under an older control version is stale, may be tried again, and does not undo a commit', async () => {
    const log = await open()
    const [draft, control] = [await claimed(log, scopeA), new SessionDraft(controlScope, null)]
    expect(await log.controlVersion()).toBe(0)
    const first = draft.next({ control: 0 })
    committed(await log.append([first]))
    await control.append(log, { count: 1 })
    const version = await log.controlVersion()
    expect(version).toBeGreaterThan(0)
    const stale = (await log.append([draft.peek({ control: 0 })]))[0]
    expect(stale).toEqual(refusal('CONTROL_STALE', { got: 0, current: version }))
    expect(stale?.ok === false && stale.error.retryable).toBe(true)
    expect(await log.append([first])).toMatchObject([{ ok: true, duplicate: true }])
    expect(await log.append([draft.peek({ control: 0, owner: null })])).toEqual([refusal('OWNERSHIP_LOST')])
    expect(await log.append([draft.next({ control: version }), draft.next()])).toMatchObject([
      { ok: true },
      { ok: true },
    ])
  })

  test('a control step and a session step in one batch see each other', async () => {
    const log = await open()
    const [draft, control] = [await claimed(log, scopeA), new SessionDraft(controlScope, null)]
    const results = await log.append([control.next(), draft.peek({ control: 0 })])
    expect(results).toEqual([expect.objectContaining({ ok: true }), refusal('CONTROL_STALE')])
  })
}
