import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acknowledgeAll, calls, cancel, ends, followUp, type Input, start, steer, supersede } from './inputs.ts'
import { emptyModel, isRefusal, observe } from './model.ts'
import { apply } from './reference-model.ts'

describe('any commands', () => {
  const small = fc.constantFrom('1', '2', '3', '4', '5', '6')
  const id = fc.tuple(fc.constantFrom('A', 'B'), small).map(([letter, digit]) => letter + digit)
  const callId = fc.tuple(fc.constantFrom('r', 'i', 'm'), small).map(([letter, digit]) => letter + digit)
  const input: fc.Arbitrary<Input> = fc.oneof(
    id.map(start),
    fc.tuple(id, fc.constantFrom('none', 'success')).map(([each, requires]) => followUp(each, requires)),
    id.map(supersede),
    fc.constant(cancel),
    fc.constantFrom<Input>({ type: 'close', cancel: true }, { type: 'reopen' }, acknowledgeAll),
    id.map((task): Input => ({ type: 'unblock', task })),
    fc.tuple(id, fc.uniqueArray(callId, { maxLength: 3 })).map(([task, ids]) => calls(task, ...ids)),
    fc.tuple(callId, fc.constantFrom('succeeded', 'failed', 'unknown')).map(([each, outcome]) => ends(each, outcome)),
    fc.constantFrom('boundary', 'interrupt').map((mode) => steer('next', mode)),
  )

  it('keep one active task, every steer in one place, and the queue in order', () => {
    const property = fc.property(fc.array(input, { maxLength: 40 }), (inputs) => {
      let model = emptyModel()
      const accepted: string[] = []
      inputs.forEach((each, index) => {
        const named = each.type === 'steer' ? { ...each, id: `s${String(index).padStart(2, '0')}` } : each
        const frozen = JSON.stringify(model)
        const before = model
        const step = apply(model, named)
        expect(JSON.stringify(before)).toBe(frozen)
        if (isRefusal(step.verdict)) expect(step.model).toBe(before)
        else if (named.type === 'steer') accepted.push(named.id)
        model = step.model
        const { steering, tasks, active, queue, lifecycle } = observe(model)
        const going = Object.entries(tasks).filter(([, state]) => state === 'running' || state === 'cancelling')
        expect(going.map(([task]) => task)).toEqual(active === null ? [] : [active])
        expect([...steering.pending, ...steering.applied, ...steering.expired].sort()).toEqual(accepted)
        expect(steering.applied).toEqual([...steering.applied].sort())
        for (const task of queue) expect(['queued', 'blocked']).toContain(tasks[task])
        if (lifecycle === 'open' && active === null)
          expect(queue.length === 0 || tasks[queue[0] ?? ''] === 'blocked').toBe(true)
      })
    })
    fc.assert(property, { seed: 20_260_102, numRuns: 500 })
  })
})
