import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { callMachine } from '../../machines/call.machine.ts'
import type { Fact, FactOf } from '../../machines/facts.ts'
import { fold } from '../../machines/fold.ts'
import { taskMachine } from '../../machines/task.machine.ts'
import { emptyWorld, type World } from '../../machines/world.ts'

const settings = {
  model: 'm',
  system: null,
  limits: {},
  budget: null,
  context: { windowTokens: 10_000, thresholdTokens: 8_000, tailMessages: 4, reserveTokens: 100 },
}

let seq = 0
function fact<T extends Fact['type']>(type: T, of: Partial<FactOf<T>>): Fact {
  seq += 1
  const at = '2026-01-01T00:00:00.000Z'
  return { type, id: `f${seq}`, seq, step: seq, at, task: null, run: null, call: null, ...of } as Fact
}

const created = (task: string, watermark = 0): Fact =>
  fact('task.created', {
    task,
    data: {
      kind: 'foreground',
      origin: 'start',
      requires: 'none',
      input: 'hmac-sha256:0',
      bytes: 1,
      request: 'hmac-sha256:0',
      watermark,
    },
  })

function opened(): World {
  const world = emptyWorld()
  seq = 0
  expect(fold(world, fact('session.opened', { data: { settings } })).refusedBy).toBeNull()
  return world
}

describe('fold', () => {
  it('gives every new task the state that its chart begins in, with a context of its own', () => {
    const world = opened()
    fold(world, created('T1'))
    const birth = created('T1') as FactOf<'task.created'>
    const begun = createActor(taskMachine, { input: birth }).getSnapshot()
    expect(world.tasks.get('T1')?.value).toEqual(begun.value)
    expect(Object.keys(world.tasks.get('T1')?.context ?? {})).toEqual(Object.keys(begun.context))
    expect(world.tasks.get('T1')?.context.id).toBe('T1')
    const other = opened()
    fold(other, created('T2'))
    expect(other.tasks.get('T2')?.context.id).toBe('T2')
    expect(world.tasks.get('T1')?.context.id).toBe('T1')
  })

  it('asks for nothing when a task or a call begins: no action of an initial state looks at the context', () => {
    const world = opened()
    expect(fold(world, created('T1')).intents).toEqual([])
    const call = fact('call.requested', {
      task: 'T1',
      call: 'C1',
      data: { name: 'look', effect: 'read', arguments: 'hmac-sha256:0', bytes: 2, batch: 0, index: 0 },
    }) as FactOf<'call.requested'>
    expect(createActor(callMachine, { input: call }).getSnapshot().value).toBe('requested')
  })

  it('changes nothing when a chart refuses', () => {
    const world = opened()
    fold(world, created('T1'))
    const before = JSON.stringify([...world.tasks].map(([id, { value, context }]) => [id, value, context]))
    const session = world.session
    const refused = fold(world, fact('task.completed', { task: 'T1', data: {} as never }))
    expect(refused.refusedBy).not.toBeNull()
    expect(world.session).toBe(session)
    expect(JSON.stringify([...world.tasks].map(([id, { value, context }]) => [id, value, context]))).toBe(before)
  })

  it('answers the same for the same world and fact', () => {
    const [one, two] = [opened(), opened()]
    const birth = created('T1')
    expect(fold(one, birth)).toEqual(fold(two, birth))
    expect(one.session?.value).toEqual(two.session?.value)
  })
})
