import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  awaits,
  calls,
  cancel,
  ends,
  final,
  group,
  type Input,
  refused,
  seal,
  spawn,
  start,
  steer,
  supersede,
} from './inputs.ts'
import { cascadeDescendants, emptyModel, isRefusal, isTerminal, type Model, membersOf, observe } from './model.ts'
import { apply } from './reference-model.ts'

/** Laws of trees, groups and awaits that the reference model must keep by itself, whatever happens to it. */

const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const
const id = fc.constantFrom(...names)
const callId = fc.tuple(fc.constantFrom('r', 'i', 'm'), fc.nat({ max: 5 })).map(([letter, nth]) => `${letter}${nth}`)
const groupId = fc.constantFrom('X', 'Y')

const input: fc.Arbitrary<Input> = fc.oneof(
  id.map(start),
  {
    arbitrary: fc
      .tuple(id, fc.option(id), fc.constantFrom('cascade' as const, 'isolate' as const), fc.option(groupId))
      .map(([task, parent, propagate, member]) =>
        spawn(task, {
          ...(parent === null ? {} : { parent }),
          propagate,
          ...(member === null ? {} : { group: member }),
        }),
      ),
    weight: 4,
  },
  fc.tuple(groupId, fc.boolean()).map(([each, failFast]) => group(each, failFast)),
  groupId.map(seal),
  groupId.map((each): Input => ({ type: 'cancelGroup', group: each })),
  id.map(final),
  id.map(refused),
  fc.tuple(id, fc.uniqueArray(callId, { maxLength: 2 })).map(([task, ids]) => calls(task, ...ids)),
  fc.tuple(callId, fc.constantFrom('succeeded', 'failed', 'unknown')).map(([call, how]) => ends(call, how)),
  fc.tuple(id, id).map(([task, other]) => awaits(task, { tasks: [other] })),
  fc.tuple(id, groupId).map(([task, other]) => awaits(task, { group: other })),
  id.map((task): Input => ({ type: 'cancel', task })),
  id.map(supersede),
  fc.constant(cancel),
  fc.constantFrom('boundary', 'interrupt').map((mode) => steer('s', mode)),
  fc.constantFrom<Input>({ type: 'grace' }, { type: 'crash' }, { type: 'close', cancel: true }, { type: 'reopen' }),
)

function statusChanges(before: Model, after: Model): string[] {
  const was = observe(before).tasks
  return Object.entries(observe(after).tasks).flatMap(([task, state]) => (was[task] === state ? [] : [task]))
}

function judge(before: Model, command: Input, after: Model): void {
  for (const task of after.tasks) {
    const descendants = cascadeDescendants(after, task)
    // A barrier has everything that cascades in it, and rests for something.
    if (task.state === 'cancelling') {
      expect(descendants.filter(({ state }) => state === 'running' || state === 'paused')).toEqual([])
      const rests = task.calls.some(({ state }) => state === 'started') || descendants.some((each) => !isTerminal(each))
      expect(rests).toBe(true)
    }
    const ended = task.state === 'cancelled' || task.state === 'failed' || task.state === 'superseded'
    if (ended && before.tasks.some((each) => each.id === task.id && !isTerminal(each)))
      expect(descendants.filter((each) => !isTerminal(each))).toEqual([])
    if (task.awaiting !== null) expect(['running', 'paused']).toContain(task.state)
  }
  for (const { id: name, state } of after.groups)
    if (state === 'sealed') expect(membersOf(after, name).some((each) => !isTerminal(each))).toBe(true)
  if (command.type !== 'cancel' || command.task === undefined) return
  const target = before.tasks.find((each) => each.id === command.task)
  if (target === undefined || target.kind === 'foreground') return
  // Nothing else is touched, but for who awaited it, and the queue when it was a turn.
  const reach = new Set([target.id, ...cascadeDescendants(before, target).map((each) => each.id)])
  const above = before.tasks.filter((each) => each.state === 'cancelling').map((each) => each.id)
  for (const task of statusChanges(before, after))
    if (before.lifecycle === 'open' && !above.includes(task) && before.active === after.active)
      expect(reach).toContain(task)
}

it('keeps the laws of trees, groups and awaits', () => {
  const property = fc.property(fc.array(input, { maxLength: 40 }), (inputs) => {
    let model = emptyModel()
    inputs.forEach((each, at) => {
      const named = each.type === 'steer' ? { ...each, id: `s${at}` } : each
      if (each.type === 'group' && model.groups.some((other) => other.id === each.id)) return
      if (each.type === 'spawn' && model.tasks.some((other) => other.id === each.id)) return
      const step = apply(model, named)
      if (!isRefusal(step.verdict)) judge(model, named, step.model)
      model = step.model
    })
  })
  fc.assert(property, { seed: 20_260_401, numRuns: 800 })
})
