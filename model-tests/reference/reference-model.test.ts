import { describe, expect, it } from 'vitest'
import {
  acknowledgeAll,
  calls,
  cancel,
  ends,
  final,
  followUp,
  type Input,
  run,
  start,
  steer,
  supersede,
} from './inputs.ts'
import { observe } from './model.ts'
import { apply } from './reference-model.ts'

describe('start, follow-up and the queue', () => {
  it('refuses a start while a task is active', () => {
    expect(run(start('A'), start('B')).last).toEqual({ refused: ['SESSION_BUSY'] })
  })

  it('refuses a reused id', () => {
    expect(run(start('A'), final('A'), start('A')).last).toEqual({ refused: ['TASK_EXISTS'] })
  })

  it('starts follow-ups in order, and one at once when nothing is active or ahead', () => {
    expect(run(followUp('A')).last).toEqual({ results: ['applied'], task: 'A' })
    const { seen, last } = run(start('A'), followUp('B'), followUp('C'))
    expect(last).toEqual({ results: ['queued'], task: 'C' })
    expect(seen.queue).toEqual(['B', 'C'])
    expect(run(start('A'), followUp('B'), followUp('C'), final('A')).seen).toMatchObject({ active: 'B', queue: ['C'] })
  })

  it('blocks a follow-up whose predecessor does not complete; at the head it holds back what is behind it', () => {
    const { seen } = run(start('A'), followUp('B', 'success'), followUp('C'), cancel)
    expect(seen).toMatchObject({
      active: null,
      queue: ['B', 'C'],
      tasks: { A: 'cancelled', B: 'blocked', C: 'queued' },
    })
  })

  it('binds the dependency at submission, also to a predecessor that has ended', () => {
    expect(run(start('A'), cancel, followUp('B', 'success')).seen.tasks.B).toBe('blocked')
    expect(run(start('A'), final('A'), followUp('B', 'success')).seen.tasks.B).toBe('running')
    // The cancelled one ahead was the predecessor, not the active task.
    const { seen } = run(start('A'), followUp('B'), followUp('C', 'success'), { type: 'cancel', task: 'B' }, final('A'))
    expect(seen.tasks).toEqual({ A: 'completed', B: 'cancelled', C: 'blocked' })
  })

  it('lets a start go past a blocked queue, which stays', () => {
    const { seen } = run(start('A'), followUp('B', 'success'), cancel, start('C'), final('C'))
    expect(seen).toMatchObject({ active: null, queue: ['B'], tasks: { C: 'completed', B: 'blocked' } })
  })

  it('starts a blocked head when it is unblocked, replaced, or cancelled out of the way', () => {
    const blocked = [start('A'), followUp('B', 'success'), followUp('C'), cancel]
    expect(run(...blocked, { type: 'unblock', task: 'B' }).seen.active).toBe('B')
    expect(run(...blocked, { type: 'replace', task: 'B' }).seen.active).toBe('B')
    expect(run(...blocked, { type: 'cancel', task: 'B' }).seen).toMatchObject({
      active: 'C',
      tasks: { B: 'cancelled' },
    })
    expect(run(...blocked, { type: 'unblock', task: 'A' }).last).toEqual({
      refused: ['INVALID_TRANSITION', 'TASK_NOT_ACTIVE'],
    })
  })
})

describe('cancel and supersede', () => {
  it('rests in the barrier for started calls only', () => {
    expect(run(start('A'), cancel).seen.tasks.A).toBe('cancelled')
    const waiting = [start('A'), calls('A', 'm1', 'r2'), cancel]
    expect(run(...waiting).seen.tasks.A).toBe('cancelling')
    expect(run(...waiting, ends('m1'), ends('r2', 'cancelled')).seen.tasks.A).toBe('cancelled')
  })

  it('joins a repeated cancel and is too late after the end', () => {
    expect(run(start('A'), calls('A', 'm1'), cancel, cancel).last).toEqual({ results: ['joined'], task: 'A' })
    expect(run(start('A'), final('A'), { type: 'cancel', task: 'A' }).last).toEqual({
      results: ['too_late'],
      task: 'A',
    })
    expect(run(cancel).last).toEqual({ refused: ['TASK_NOT_ACTIVE'] })
  })

  it('starts the replacement after the barrier, before all follow-ups', () => {
    const inputs = [start('A'), calls('A', 'm1'), followUp('F'), supersede('B')]
    expect(run(...inputs).seen).toMatchObject({ active: 'A', slot: 'B', queue: ['F'] })
    expect(run(...inputs, ends('m1')).seen).toMatchObject({
      active: 'B',
      slot: null,
      tasks: { A: 'superseded', F: 'queued' },
    })
  })

  it('just starts when no task is active', () => {
    expect(run(supersede('A')).seen.active).toBe('A')
  })

  it('has one slot: a newer supersede ends the older unstarted replacement and says so', () => {
    const { last, seen } = run(start('A'), calls('A', 'm1'), supersede('B'), supersede('C'))
    expect(last).toMatchObject({ task: 'C', superseded: 'B' })
    expect(seen).toMatchObject({ slot: 'C', tasks: { A: 'cancelling', B: 'superseded', C: 'queued' } })
  })

  it('keeps the first status: supersede while cancelling fills the slot, cancel after supersede joins', () => {
    const slot = run(start('A'), calls('A', 'm1'), cancel, supersede('B'), ends('m1'))
    expect(slot.seen).toMatchObject({ active: 'B', tasks: { A: 'cancelled' } })
    const joined = run(start('A'), calls('A', 'm1'), supersede('B'), cancel)
    expect(joined.last).toEqual({ results: ['joined'], task: 'A', replacement: 'B' })
    expect(apply(joined.model, ends('m1')).model.active).toBe('B')
  })

  it('refuses to act on another task than the named one', () => {
    expect(run(start('A'), final('A'), start('B'), { type: 'supersede', id: 'C', task: 'A' }).last).toEqual({
      refused: ['TASK_NOT_ACTIVE'],
    })
  })
})

describe('steering', () => {
  it('leads to another round when it is pending at a final answer, and is applied in order', () => {
    const { seen } = run(start('A'), steer('s1'), steer('s2'), final('A'))
    expect(seen).toMatchObject({ active: 'A', steering: { applied: ['s1', 's2'], pending: [] } })
  })

  it('waits for the whole batch', () => {
    const inputs = [start('A'), calls('A', 'r1', 'm2'), steer('s1'), ends('r1')]
    expect(run(...inputs).seen.steering.pending).toEqual(['s1'])
    expect(run(...inputs, ends('m2', 'failed')).seen.steering.applied).toEqual(['s1'])
  })

  it('never lands in another turn', () => {
    expect(run(start('A'), final('A'), steer('s1')).last).toEqual({ refused: ['TASK_NOT_ACTIVE'] })
    const late: Input = { type: 'steer', id: 's1', task: 'A' }
    expect(run(start('A'), final('A'), start('B'), late).last).toEqual({ refused: ['TASK_NOT_ACTIVE'] })
    expect(run(start('A'), calls('A', 'm1'), cancel, steer('s1')).last).toEqual({ refused: ['TASK_CANCELLING'] })
  })

  it('is inherited by the next foreground task, whatever starts it', () => {
    const { seen } = run(start('A'), steer('s1'), cancel)
    expect(seen.steering.pending).toEqual(['s1'])
    expect(run(start('A'), steer('s1'), cancel, start('B')).seen.steering).toEqual({
      pending: [],
      applied: ['s1'],
      expired: [],
    })
    expect(run(start('A'), steer('s1'), followUp('B'), cancel).seen.steering.applied).toEqual(['s1'])
  })

  it('expires with a replacement of the active task, on command, and at closing', () => {
    expect(run(start('A'), steer('s1'), supersede('B')).seen.steering.expired).toEqual(['s1'])
    expect(
      run(start('A'), calls('A', 'm1'), steer('s1'), cancel, supersede('B'), ends('m1')).seen.steering.expired,
    ).toEqual(['s1'])
    expect(run(start('A'), steer('s1'), { type: 'cancel', steering: 'expire' }).seen.steering.expired).toEqual(['s1'])
    expect(run(start('A'), steer('s1'), cancel, { type: 'close' }).seen.steering.expired).toEqual(['s1'])
  })

  it('interrupts the request in flight and held calls, never a tool', () => {
    expect(run(start('A'), steer('s1', 'interrupt')).seen.steering.applied).toEqual(['s1'])
    const lost = [start('A'), calls('A', 'm1'), cancel, ends('m1', 'unknown'), start('B'), calls('B', 'r1', 'm2')]
    const { seen } = run(...lost, steer('s1', 'interrupt'))
    expect(seen).toMatchObject({ calls: { r1: 'started', m2: 'cancelled' }, steering: { pending: ['s1'] } })
    expect(run(...lost, steer('s1', 'interrupt'), ends('r1')).seen.steering.applied).toEqual(['s1'])
  })
})

describe('quarantine', () => {
  const lost = [start('A'), calls('A', 'm1'), cancel, ends('m1', 'unknown'), start('B')]

  it('holds mutating and idempotent calls and lets reads run, over successors', () => {
    const { seen } = run(...lost, calls('B', 'r1', 'i2', 'm3'))
    expect(seen).toMatchObject({ quarantine: ['m1'], calls: { m1: 'unknown', r1: 'started', i2: 'held', m3: 'held' } })
    expect(seen.tasks.B).toBe('running')
  })

  it('starts held calls when the set is empty, and only then', () => {
    expect(run(acknowledgeAll).last).toEqual({ refused: ['NOT_QUARANTINED'] })
    const held = [...lost, calls('B', 'm3')]
    expect(run(...held, { type: 'acknowledge', calls: ['m1'] }).seen).toMatchObject({
      quarantine: [],
      calls: { m3: 'started' },
    })
    const two = run(
      start('A'),
      calls('A', 'm1', 'm2'),
      cancel,
      ends('m1', 'unknown'),
      ends('m2', 'unknown'),
      start('B'),
      calls('B', 'm3'),
      {
        type: 'acknowledge',
        calls: ['m2'],
      },
    )
    expect(two.seen).toMatchObject({ quarantine: ['m1'], calls: { m3: 'held' } })
  })

  it('is for mutating calls alone; a late result changes nothing', () => {
    expect(
      run(start('A'), calls('A', 'i1', 'r2'), ends('i1', 'unknown'), ends('r2', 'unknown')).seen.quarantine,
    ).toEqual([])
    const late = run(...lost, ends('m1', 'succeeded'))
    expect(late.last).toEqual({ results: ['too_late'] })
    expect(late.seen).toMatchObject({ quarantine: ['m1'], calls: { m1: 'unknown' } })
  })
})

describe('close, reopen and erase', () => {
  it('refuses while a task is active, unless it cancels', () => {
    expect(run(start('A'), { type: 'close' }).last).toEqual({ refused: ['SESSION_BUSY'] })
    expect(run(start('A'), { type: 'erase' }).last).toEqual({ refused: ['SESSION_BUSY'] })
    expect(run(start('A'), { type: 'close', cancel: true }).seen).toMatchObject({
      lifecycle: 'closed',
      tasks: { A: 'cancelled' },
    })
  })

  it('starts nothing after closing; pending tasks survive, and the slot goes first after reopen', () => {
    const inputs: Input[] = [
      start('A'),
      calls('A', 'm1'),
      followUp('F'),
      supersede('B'),
      { type: 'close', cancel: true },
    ]
    expect(run(...inputs).seen.lifecycle).toBe('closing')
    expect(run(...inputs, { type: 'reopen' }).last).toHaveProperty('refused')
    const closed = run(...inputs, ends('m1'))
    expect(closed.seen).toMatchObject({
      lifecycle: 'closed',
      active: null,
      slot: 'B',
      tasks: { A: 'superseded', F: 'queued' },
    })
    expect(apply(closed.model, start('C')).verdict).toEqual({ refused: ['SESSION_CLOSED'] })
    expect(observe(apply(closed.model, { type: 'reopen' }).model)).toMatchObject({ active: 'B', queue: ['F'] })
  })

  it('takes late results and acknowledgements when closed', () => {
    const { model } = run(start('A'), calls('A', 'm1'), cancel, ends('m1', 'unknown'), { type: 'close' })
    expect(apply(model, ends('m1')).verdict).toEqual({ results: ['too_late'] })
    expect(apply(model, acknowledgeAll).model.quarantine).toEqual([])
  })

  it('erases for ever, cancels what is pending, and upgrades a close', () => {
    const inputs: Input[] = [
      start('A'),
      calls('A', 'm1'),
      followUp('F'),
      { type: 'close', cancel: true },
      { type: 'erase' },
    ]
    const { model, seen } = run(...inputs, ends('m1'))
    expect(seen).toMatchObject({ lifecycle: 'erased', tasks: { A: 'cancelled', F: 'cancelled' } })
    expect(apply(model, { type: 'reopen' }).verdict).toEqual({ refused: ['SESSION_ERASED'] })
  })
})
