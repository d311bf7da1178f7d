import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Log, Snapshot } from '../../src/facts/log-port.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { scriptedModel } from '../../src/models/scripted-model.ts'
import { loadNewest, loadWorld } from '../../src/runtime/load-world.ts'
import { openRuntime, type Runtime } from '../../src/runtime/open-runtime.ts'
import { packWorld, unpackWorld } from '../../src/runtime/world-snapshot.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { tempFile } from '../log/temp-store.ts'
import { Scenario, scope } from './kit/scenario.ts'

async function ranOnce(): Promise<Scenario> {
  const run = new Scenario({ cuts: [] })
  await run.run()
  return run
}

/** Seqs at which steps end, with their hashes. */
async function stepEnds(log: Log): Promise<readonly { readonly seq: number; readonly hash: string }[]> {
  const steps = await log.read(scope, { limit: 10_000 })
  return steps.map((step) => ({ seq: step.firstSeq + step.count - 1, hash: step.hash }))
}

async function save(log: Log, snapshot: Omit<Snapshot, 'revision'>): Promise<void> {
  const revision = ((await log.loadSnapshot(scope))?.revision ?? 0) + 1
  expect(await log.saveSnapshot(scope, { ...snapshot, revision })).toBe(true)
}

async function snapshotAt(log: Log, end: { seq: number; hash: string }): Promise<Omit<Snapshot, 'revision'>> {
  const { world } = await loadWorld(log, scope, end.seq)
  return { ...end, body: packWorld(world, end.hash) }
}

describe('a snapshot', () => {
  it('with the tail behind it equals the fold of the whole log, at every step (INV-08)', async () => {
    const { store } = await ranOnce()
    const whole = await loadWorld(store, scope)
    for (const end of await stepEnds(store)) {
      await save(store, await snapshotAt(store, end))
      const loaded = await loadNewest(store, scope)
      expect(loaded.snapshot.seq).toBe(end.seq)
      const { seq, step, hash, lastId } = loaded
      expect([seq, step, hash, lastId]).toEqual([whole.seq, whole.step, whole.hash, whole.lastId])
      expect(packWorld(loaded.world, '')).toBe(packWorld(whole.world, ''))
    }
  })

  it('that is damaged, outdated or out of place changes no answer', { timeout: 60_000 }, async () => {
    const run = await ranOnce()
    const { store } = run
    const ends = await stepEnds(store)
    const wanted = packWorld((await loadWorld(store, scope)).world, '')
    const at = fc.nat({ max: ends.length - 1 })
    const damage = fc.oneof(
      fc.record({ kind: fc.constant('none' as const) }),
      fc.record({
        kind: fc.constant('flip' as const),
        place: fc.nat(),
        to: fc.constantFrom('0', '9', 'x', '"', '}', ' '),
      }),
      fc.record({ kind: fc.constant('cut' as const), place: fc.nat() }),
      fc.record({ kind: fc.constant('hash' as const), other: at }),
      fc.record({ kind: fc.constant('seq' as const), by: fc.constantFrom(-1, 1, 1_000) }),
      fc.record({
        kind: fc.constant('replaced' as const),
        body: fc.constantFrom('', '{}', 'null', '[]', '{"foldVersion":3}'),
      }),
    )
    await fc.assert(
      fc.asyncProperty(at, damage, async (index, hurt) => {
        const end = ends[index]
        if (end === undefined) return
        const sound = await snapshotAt(store, end)
        await save(store, damaged(sound, hurt, ends))
        expect(packWorld((await loadNewest(store, scope)).world, '')).toBe(wanted)
      }),
      { numRuns: 300, seed: 20_260_101 },
    )
  })

  it('of another version of the fold is thrown away', async () => {
    const { store } = await ranOnce()
    const end = (await stepEnds(store)).at(-1)
    if (end === undefined) throw new Error('the run wrote something')
    const { body } = await snapshotAt(store, end)
    expect(unpackWorld(body, end.hash)).not.toBeNull()
    expect(unpackWorld(body, 'another place')).toBeNull()
    const other = body.replace(/"foldVersion":\d+/, '"foldVersion":1')
    expect(unpackWorld(other, end.hash)).toBeNull()
  })
})

type Damage =
  | { kind: 'none' }
  | { kind: 'flip'; place: number; to: string }
  | { kind: 'cut'; place: number }
  | { kind: 'hash'; other: number }
  | { kind: 'seq'; by: number }
  | { kind: 'replaced'; body: string }

function damaged(
  sound: Omit<Snapshot, 'revision'>,
  hurt: Damage,
  ends: readonly { readonly hash: string }[],
): Omit<Snapshot, 'revision'> {
  const { body, seq } = sound
  switch (hurt.kind) {
    case 'none':
      return sound
    case 'flip': {
      const place = hurt.place % body.length
      return { ...sound, body: body.slice(0, place) + hurt.to + body.slice(place + 1) }
    }
    case 'cut':
      return { ...sound, body: body.slice(0, hurt.place % body.length) }
    case 'hash':
      return { ...sound, hash: ends[hurt.other]?.hash ?? '' }
    case 'seq':
      return { ...sound, seq: Math.max(1, seq + hurt.by) }
    case 'replaced':
      return { ...sound, body: hurt.body }
  }
}

describe('snapshots that a runtime keeps', () => {
  const model = scriptedModel({ name: 'scripted', everyTurn: [{ text: 'Again.' }] })

  async function turns(runtime: Runtime, count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1)
      await (await runtime.session(scope).start(`turn ${turn}`, { commandId: `c-${turn}-${count}` })).outcome()
  }

  async function opened(file: string): Promise<{ runtime: Runtime; log: Log; close(): Promise<void> }> {
    const log = sqliteLog(file, { synchronous: 'NORMAL' })
    const runtime = await openRuntime({ log, model })
    return {
      runtime,
      log,
      close: async () => {
        await runtime.close()
        await log.close()
      },
    }
  }

  it.each([
    ['left alone', ''],
    ['deleted', 'DELETE FROM snapshots'],
    ['corrupted', 'UPDATE snapshots SET body = replace(body, \'"used":\', \'"used":1\')'],
    ['set on another place', 'UPDATE snapshots SET seq = seq + 1'],
  ])('may be %s at any time', { timeout: 60_000 }, async (_what, statement) => {
    const file = tempFile()
    const first = await opened(file)
    await turns(first.runtime, 75)
    const kept = await first.log.loadSnapshot(scope)
    expect(kept?.seq).toBeGreaterThan(500)
    const raw = new Database(file)
    if (statement !== '') expect(raw.prepare(statement).run().changes).toBe(1)
    await turns(first.runtime, 5)
    const state = await first.runtime.session(scope).state()
    await first.close()
    const second = await opened(file)
    const loaded = await loadNewest(second.log, scope)
    expect(loaded.snapshot.seq).toBe(statement === '' ? kept?.seq : 0)
    expect(await second.runtime.session(scope).state()).toEqual(state)
    expect(await second.runtime.session(scope).state({ at: state.seq })).toEqual(state)
    const repeated = await second.runtime.session(scope).start('turn 0', { commandId: 'c-0-75' })
    expect(repeated.receipt?.result).toBe('duplicate')
    await turns(second.runtime, 76)
    expect((await second.log.loadSnapshot(scope))?.seq).toBeGreaterThan(state.seq)
    expect(checkLog(await second.runtime.session(scope).log()).violations).toEqual([])
    raw.close()
    await second.close()
  })
})
