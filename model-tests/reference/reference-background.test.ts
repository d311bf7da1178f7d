import { describe, expect, it } from 'vitest'
import {
  acknowledgeAll,
  awaits,
  calls,
  cancel,
  ends,
  final,
  group,
  refused,
  run,
  seal,
  spawn,
  start,
  steer,
  supersede,
} from './inputs.ts'

const tree = [
  start('A'),
  spawn('B', { parent: 'A' }),
  spawn('C', { parent: 'B' }),
  spawn('D', { parent: 'A', propagate: 'isolate' }),
  spawn('E', { parent: 'D' }),
]

describe('spawn', () => {
  it('starts at once, beside a turn and in a quarantine', () => {
    expect(run(spawn('B')).seen).toMatchObject({ active: null, tasks: { B: 'running' }, requesting: ['B'] })
    expect(run(...tree).seen.requesting).toEqual(['A', 'B', 'C', 'D', 'E'])
    const lost = [start('A'), calls('A', 'm1'), cancel, ends('m1', 'unknown'), spawn('B'), calls('B', 'm2', 'r3')]
    expect(run(...lost).seen).toMatchObject({ tasks: { B: 'running' }, calls: { m2: 'held', r3: 'started' } })
    expect(run(...lost, acknowledgeAll).seen.calls).toMatchObject({ m2: 'started' })
  })

  it('gives one task a key, and refuses another request under it', () => {
    const twice = [spawn('B', { key: 'k', input: 'x' }), spawn('C', { key: 'k', input: 'x' })]
    expect(run(...twice).last).toMatchObject({ task: 'B' })
    expect(run(...twice).seen.tasks).toEqual({ B: 'running' })
    expect(run(...twice, final('B'), spawn('C', { key: 'k', input: 'x' })).last).toMatchObject({ task: 'B' })
    expect(run(spawn('B', { key: 'k' }), spawn('C', { key: 'k', input: 'y' })).last).toEqual({
      refused: ['IDEMPOTENCY_CONFLICT'],
    })
  })

  it('is bounded in depth and in number', () => {
    const deep = Array.from({ length: 8 }, (_, at) => spawn(`B${at}`, at === 0 ? {} : { parent: `B${at - 1}` }))
    expect(run(...deep, spawn('C', { parent: 'B7' })).last).toEqual({ refused: ['LIMIT_EXCEEDED'] })
    const many = Array.from({ length: 64 }, (_, at) => spawn(`B${at}`))
    expect(run(...many, spawn('C')).last).toEqual({ refused: ['LIMIT_EXCEEDED'] })
    expect(run(...many, final('B0'), spawn('C')).last).toMatchObject({ task: 'C' })
  })
})

describe('what cascades', () => {
  it('cancels cascade descendants in one step, and leaves an isolated child with its subtree', () => {
    expect(run(...tree, { type: 'cancel', task: 'A' }).seen.tasks).toEqual({
      A: 'cancelled',
      B: 'cancelled',
      C: 'cancelled',
      D: 'running',
      E: 'running',
    })
    expect(run(...tree, { type: 'cancel', task: 'C' }).seen.tasks).toMatchObject({
      A: 'running',
      B: 'running',
      C: 'cancelled',
    })
  })

  it('passes through terminal descendants to their living children', () => {
    expect(run(...tree, final('B'), cancel).seen.tasks).toMatchObject({
      A: 'cancelled',
      B: 'completed',
      C: 'cancelled',
    })
  })

  it('waits with the terminal for a descendant, and lets a replacement start only then', () => {
    const waiting = [...tree, calls('C', 'm1'), supersede('F')]
    expect(run(...waiting).seen).toMatchObject({
      active: 'A',
      slot: 'F',
      tasks: { A: 'cancelling', B: 'cancelling', C: 'cancelling' },
    })
    expect(run(...waiting, ends('m1', 'cancelled')).seen).toMatchObject({
      active: 'F',
      tasks: { A: 'superseded', B: 'cancelled', C: 'cancelled' },
    })
    expect(run(...waiting, { type: 'grace' }).seen).toMatchObject({ active: 'F', quarantine: ['m1'] })
  })

  it('cascades a failure and no completion', () => {
    expect(run(...tree, refused('A')).seen.tasks).toMatchObject({
      A: 'failed',
      B: 'cancelled',
      C: 'cancelled',
      D: 'running',
    })
    expect(run(...tree, final('A')).seen.tasks).toMatchObject({ A: 'completed', B: 'running', C: 'running' })
  })

  it('keeps the status of a barrier that had begun', () => {
    const seen = run(...tree, calls('B', 'm1'), final('C'), refused('D'), { type: 'cancel', task: 'B' }, cancel).seen
    expect(seen.tasks).toMatchObject({ A: 'cancelling', B: 'cancelling', D: 'failed', E: 'cancelled' })
  })

  it('expires steering of a background task at its end', () => {
    const steered = [...tree, { type: 'steer', id: 's1', task: 'B' } as const, { type: 'cancel', task: 'B' } as const]
    expect(run(...steered).seen.steering).toEqual({ pending: [], applied: [], expired: ['s1'] })
  })

  it('makes a session busy, and ends with it', () => {
    expect(run(spawn('B'), { type: 'close' }).last).toEqual({ refused: ['SESSION_BUSY'] })
    const closing = [spawn('B'), calls('B', 'm1'), { type: 'close', cancel: true } as const]
    expect(run(...closing).seen).toMatchObject({ lifecycle: 'closing', tasks: { B: 'cancelling' } })
    expect(run(...closing, ends('m1')).seen).toMatchObject({ lifecycle: 'closed', tasks: { B: 'cancelled' } })
    expect(run(...closing, spawn('C')).last).toEqual({ refused: ['SESSION_CLOSED'] })
  })
})

describe('groups', () => {
  const members = [group('G'), spawn('B', { group: 'G' }), spawn('C', { group: 'G' })]

  it('resolve when they are sealed and all members are terminal', () => {
    expect(run(...members, final('B'), final('C')).seen.groups).toEqual({ G: 'open' })
    expect(run(...members, final('B'), final('C'), seal('G')).seen.groups).toEqual({ G: 'resolved' })
    expect(run(...members, seal('G'), final('B'), refused('C')).seen.groups).toEqual({ G: 'resolved' })
    expect(run(...members, seal('G'), spawn('D', { group: 'G' })).last).toEqual({ refused: ['GROUP_SEALED'] })
  })

  it('that fail fast cancel the rest, and what cascades from it', () => {
    const fast = [group('G', true), ...members.slice(1), spawn('D', { parent: 'C' }), seal('G')]
    expect(run(...fast, refused('B')).seen).toMatchObject({
      tasks: { B: 'failed', C: 'cancelled', D: 'cancelled' },
      groups: { G: 'resolved' },
    })
    expect(run(...members, seal('G'), refused('B')).seen.tasks).toMatchObject({ B: 'failed', C: 'running' })
  })

  it('that are cancelled cancel their members', () => {
    expect(run(...members, { type: 'cancelGroup', group: 'G' }).seen).toMatchObject({
      tasks: { B: 'cancelled', C: 'cancelled' },
      groups: { G: 'cancelled' },
    })
  })
})

describe('awaits', () => {
  const begun = [start('A'), spawn('B', { parent: 'A' }), awaits('A', { tasks: ['B'] })]

  it('hold the task until what they name is terminal', () => {
    expect(run(...begun).seen).toMatchObject({ awaiting: ['A'], requesting: ['B'] })
    expect(run(...begun, final('B')).seen).toMatchObject({ awaiting: [], requesting: ['A'] })
    expect(run(...begun.slice(0, 2), final('B'), awaits('A', { tasks: ['B'] })).seen.requesting).toEqual(['A'])
  })

  it('take the own descendants and groups without the caller only', () => {
    expect(run(start('A'), spawn('B'), awaits('A', { tasks: ['B'] })).seen).toMatchObject({
      awaiting: [],
      requesting: ['A', 'B'],
    })
    expect(run(group('G'), spawn('B', { group: 'G' }), awaits('B', { group: 'G' })).seen.awaiting).toEqual([])
    expect(run(start('A'), group('G'), awaits('A', { group: 'G' }), seal('G')).seen.requesting).toEqual(['A'])
  })

  it('begin when the calls of the batch have settled', () => {
    const batch = {
      type: 'answer',
      task: 'A',
      calls: [{ id: 'r1', effect: 'read' }],
      awaits: { tasks: ['B'] },
    } as const
    expect(run(...begun.slice(0, 2), batch).seen.awaiting).toEqual([])
    expect(run(...begun.slice(0, 2), batch, ends('r1')).seen.awaiting).toEqual(['A'])
  })

  it('end by an interrupt, a deadline, and with their task', () => {
    expect(run(...begun, steer('s1', 'interrupt')).seen).toMatchObject({ awaiting: [], steering: { applied: ['s1'] } })
    expect(run(...begun, steer('s1')).seen).toMatchObject({ awaiting: ['A'], steering: { pending: ['s1'] } })
    expect(run(...begun, { type: 'deadline', task: 'A' }).seen).toMatchObject({ awaiting: [], tasks: { B: 'running' } })
    expect(run(...begun, cancel).seen).toMatchObject({ awaiting: [], tasks: { A: 'cancelled', B: 'cancelled' } })
  })

  it('keep their state over a pause', () => {
    const paused = [...begun, { type: 'pause' } as const]
    expect(run(...paused).seen).toMatchObject({ awaiting: ['A'], tasks: { A: 'paused' } })
    const resume = { type: 'resume', decision: 'resume' } as const
    expect(run(...paused, resume).seen).toMatchObject({ awaiting: ['A'], tasks: { A: 'running' } })
    expect(run(...paused, final('B'), resume).seen).toMatchObject({ awaiting: [], requesting: ['A'] })
    expect(run(...begun, { type: 'crash' }).seen).toMatchObject({ awaiting: ['A'], requesting: ['B'] })
  })
})
