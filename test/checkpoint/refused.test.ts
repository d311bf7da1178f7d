import { describe, expect, it } from 'vitest'
import { unpackStep } from '../../src/facts/codec.ts'
import { controlScope } from '../../src/facts/scope.ts'
import type { Checkpoint } from '../../src/runtime/checkpoint/checkpoint-schema.ts'
import { digestOfCheckpoint } from '../../src/runtime/checkpoint/parse-checkpoint.ts'
import { refusal } from '../runtime/kit/check.ts'
import { openRig, scope } from '../runtime/kit/rig.ts'
import { askedNext, verified } from './kit/elsewhere.ts'

async function finished(): Promise<Checkpoint> {
  const rig = await openRig()
  await askedNext(rig, 'hello')
  return rig.session.checkpoint()
}

function messageOf({ history }: Checkpoint, at: number): Checkpoint['history']['messages'][number] {
  return history.messages[at] ?? expect.unreachable('the history has no such message')
}

/** The document with one thing changed in it, and a digest that vouches for that. */
function changed(checkpoint: Checkpoint, change: (copy: Checkpoint) => void): object {
  const copy = JSON.parse(JSON.stringify(checkpoint))
  change(copy)
  return { ...copy, digest: digestOfCheckpoint(copy) }
}

describe('a checkpoint of a session that does not rest', () => {
  it('says what it is about to ask a model, and is not restored', async () => {
    const rig = await openRig({ tools: { work: { effect: 'read' } } })
    await rig.session.start('hello')
    const held = await rig.model.next()
    const checkpoint = await rig.session.checkpoint()
    expect(checkpoint.identity).toMatchObject({ phase: 'model', turns: 1 })
    expect(checkpoint.next).toEqual({ request: JSON.parse(JSON.stringify(held.request)) })
    const target = { scope: { ...scope, session: 'other' } }
    expect(await refusal(rig.runtime.restore(checkpoint, target))).toMatchObject({
      code: 'CHECKPOINT_INTERRUPTED',
      details: { phase: 'model' },
    })
    held.calls(['work'])
    await rig.tool('work').next()
    await rig.session.steer('more')
    await rig.session.followUp('then')
    const acting = await rig.session.checkpoint()
    expect(acting).toMatchObject({
      identity: { phase: 'acting' },
      next: { nothing: true },
      control: { steering: [{ content: 'more' }], queue: [{ input: 'then', requires: 'none', blocked: false }] },
    })
    expect(await refusal(rig.runtime.restore(acting, target))).toMatchObject({
      code: 'CHECKPOINT_INTERRUPTED',
      details: { steering: 1, queued: 1 },
    })
    expect(await rig.runtime.session(target.scope).log()).toEqual([])
  })

  it('is refused for a blocked queue and for steering that waits, without any turn', async () => {
    const rig = await openRig()
    await rig.session.start('hello')
    const held = await rig.model.next()
    await rig.session.followUp('then', { requires: 'success' })
    held.fails('NO', false)
    await rig.time.settle()
    const checkpoint = await rig.session.checkpoint()
    expect(checkpoint).toMatchObject({ identity: { phase: 'queued' }, control: { queue: [{ blocked: true }] } })
    expect(await refusal(rig.runtime.restore(checkpoint))).toMatchObject({ code: 'CHECKPOINT_INTERRUPTED' })
  })
})

describe('background work', () => {
  it('keeps a session from being restored while it lives, and until the next turn is told of its result', async () => {
    const rig = await openRig()
    const turn = await rig.session.start('go on alone')
    const held = await rig.model.next()
    const job = await rig.session.spawn('beside it', { parent: turn.id, propagate: 'isolate' })
    const beside = await rig.model.next()
    held.text('done')
    await turn.outcome()
    const target = { scope: { ...scope, session: 'other' } }
    const living = await rig.session.checkpoint()
    expect(living).toMatchObject({ identity: { phase: 'finished' }, control: { background: [job.id] } })
    expect((await refusal(rig.runtime.restore(living, target))).code).toBe('CHECKPOINT_INTERRUPTED')
    beside.text('found something')
    expect((await job.outcome()).status).toBe('completed')
    const untold = await rig.session.checkpoint()
    expect(untold.control.background).toEqual([job.id])
    expect((await refusal(rig.runtime.restore(untold, target))).code).toBe('CHECKPOINT_INTERRUPTED')
    const told = await askedNext(rig, 'and?')
    expect(JSON.stringify(told.messages)).toContain('found something')
    const session = await rig.runtime.restore(await rig.session.checkpoint(), target)
    expect(JSON.stringify(await session.messages())).toContain('found something')
    await verified(rig.store)
  })
})

describe('a restore is refused', () => {
  it('to a session with a history, also of the same checkpoint, and changes nothing', async () => {
    const checkpoint = await finished()
    const rig = await openRig({ seed: 50 })
    const session = await rig.runtime.restore(checkpoint)
    const before = await session.log()
    expect(await refusal(rig.runtime.restore(checkpoint))).toMatchObject({
      code: 'CONTEXT_FIXED',
      details: { same: true, refused: true },
    })
    const opened = { ...scope, session: 'opened' }
    await rig.runtime.session(opened).memory.put('k', 1)
    expect(await refusal(rig.runtime.restore(checkpoint, { scope: opened }))).toMatchObject({
      code: 'CONTEXT_FIXED',
      details: { same: false },
    })
    expect(await session.log()).toEqual(before)
    await rig.runtime.restore(checkpoint, { scope: { ...scope, session: 'another' } })
    await session.erase()
    expect(await refusal(rig.runtime.restore(checkpoint))).toMatchObject({ code: 'SESSION_ERASED' })
    expect(await refusal(session.checkpoint())).toMatchObject({ code: 'SESSION_ERASED' })
    await verified(rig.store)
  })

  it('to another tenant or user, unless somebody says that they bring it; that is on record (INV-21)', async () => {
    const checkpoint = await finished()
    const rig = await openRig({ seed: 51 })
    for (const foreign of [
      { ...scope, tenant: 'other' },
      { ...scope, user: 'other' },
    ]) {
      expect(await refusal(rig.runtime.restore(checkpoint, { scope: foreign }))).toMatchObject({
        code: 'SCOPE_MISMATCH',
      })
      expect(await rig.runtime.session(foreign).log()).toEqual([])
      await rig.runtime.restore(checkpoint, { scope: foreign, elevated: { actor: 'ann' } })
      expect((await rig.runtime.session(foreign).messages()).length).toBe(2)
      expect(await rig.runtime.session(foreign).ledger()).toMatchObject([
        { kind: 'restore' },
        { kind: 'elevated_read', actor: 'ann', surface: 'restore' },
      ])
    }
    expect(await rig.session.log()).toEqual([])
    const audits = (await rig.store.read(controlScope, { limit: 10 })).flatMap((step) => unpackStep(step))
    expect(audits.map(({ type, data }) => [type, data])).toEqual([
      ['audit.elevated', { actor: 'ann', surface: 'restore', filter: { ...scope, tenant: 'other', from: scope } }],
      ['audit.elevated', { actor: 'ann', surface: 'restore', filter: { ...scope, user: 'other', from: scope } }],
    ])
    await verified(rig.store)
  })

  it('of a document that was changed, is of another version, or is none', async () => {
    const checkpoint = await finished()
    const rig = await openRig({ seed: 52 })
    const code = async (given: unknown) => (await refusal(rig.runtime.restore(given))).code
    expect(await code({ ...checkpoint, version: 2 })).toBe('CHECKPOINT_VERSION')
    expect(await code({ ...checkpoint, model: 'another' })).toBe('CHECKPOINT_INVALID')
    for (const none of [null, undefined, 7, '', '{', '[]', 'null', [], {}, () => 1, new Uint8Array([0xff, 0xfe]), 10n])
      expect(await code(none)).toBe('CHECKPOINT_INVALID')
    const circular: Record<string, unknown> = { ...checkpoint }
    circular.self = circular
    expect(await code(circular)).toBe('CHECKPOINT_INVALID')
    expect(await rig.session.log()).toEqual([])
  })

  it.each<[string, (copy: Checkpoint) => void]>([
    ['an extra field', (copy) => Object.assign(copy, { extra: 1 })],
    ['an extra field inside', (copy) => Object.assign(copy.control, { extra: 1 })],
    ['a missing field', (copy) => delete (copy as Record<string, unknown>).memory],
    ['a scope of the store', (copy) => Object.assign(copy.identity, { tenant: '_control' })],
    ['a view without a message', (copy) => copy.context.view.pop()],
    ['a message twice', (copy) => copy.history.messages.push(messageOf(copy, 0))],
    ['messages in another order', (copy) => copy.history.messages.reverse()],
    [
      'a result without its call',
      (copy) =>
        Object.assign(messageOf(copy, 1), {
          role: 'tool',
          forCall: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
        }),
    ],
    [
      'a call without its result',
      (copy) =>
        Object.assign(messageOf(copy, 1), {
          toolCalls: [{ id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'x', arguments: {} }],
        }),
    ],
    ['less use than was charged', (copy) => Object.assign(copy.accounting, { used: 0 })],
    ['limits beyond the bounds', (copy) => Object.assign(copy.settings.limits, { callsPerTurn: 1_000_000 })],
    ['no room for an answer', (copy) => Object.assign(copy.context.policy, { reserveTokens: 9_999_999 })],
    ['no output at all', (copy) => Object.assign(copy.context.policy, { reserveTokens: 0 })],
    ['a quarantined call that was never seen', (copy) => copy.control.quarantine.push('01ARZ3NDEKTSV4RRFFQ69G5FAV')],
    ['a note twice', (copy) => copy.memory.push({ key: 'a', value: 1 }, { key: 'a', value: 2 })],
    ['a phase that is not its own', (copy) => Object.assign(copy.identity, { phase: 'model' })],
    ['a negative number of turns', (copy) => Object.assign(copy.identity, { turns: -1 })],
  ])('of a document that contradicts itself, although its digest is right: %s', async (_name, change) => {
    const rig = await openRig({ seed: 53 })
    const checkpoint = await finished()
    expect((await refusal(rig.runtime.restore(changed(checkpoint, change)))).code).toBe('CHECKPOINT_INVALID')
    expect(await rig.session.log()).toEqual([])
    await rig.runtime.restore(changed(checkpoint, () => {}))
  })

  it('of what is not there', async () => {
    const rig = await openRig()
    expect(await refusal(rig.session.checkpoint())).toMatchObject({ code: 'NOT_FOUND' })
    await askedNext(rig, 'hello')
    expect(await refusal(rig.session.checkpoint({ at: 99 }))).toMatchObject({ code: 'NOT_FOUND' })
    for (const at of [0, -1, 1.5, Number.NaN])
      expect(await refusal(rig.session.checkpoint({ at }))).toMatchObject({ code: 'INVALID_INPUT' })
    for (const { seq } of await rig.session.log())
      expect((await rig.session.checkpoint({ at: seq })).history.revision).toBe(seq)
    const small = await openRig({ limits: { checkpointBytes: 500 } })
    await askedNext(small, 'hello')
    expect(await refusal(small.session.checkpoint())).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { which: 'checkpointBytes', bound: 500 },
    })
  })
})
