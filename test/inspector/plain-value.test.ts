import fc from 'fast-check'
import { expect, it } from 'vitest'
import { assign, createMachine } from 'xstate'
import { plainValue } from '../../src/inspector/simulator/plain-value.ts'
import { simulate } from '../../src/inspector/simulator/simulate.ts'

const odd = () => {
  const own: Record<string, unknown> = { count: 1 }
  own.self = own
  return {
    name: 'Ada',
    big: 10n,
    map: new Map<unknown, unknown>([
      ['k', 1n],
      [2, 'two'],
    ]),
    set: new Set([1, 'b']),
    ring: function ring() {},
    nameless: (
      () => () =>
        1
    )(),
    not: Number.NaN,
    endless: Number.POSITIVE_INFINITY,
    mark: Symbol('s'),
    own,
    lazy: {
      beside: 1,
      get broken() {
        throw new Error('no such thing')
      },
    },
    toStore: {
      toJSON() {
        throw new Error('not now')
      },
    },
    promise: Promise.resolve(1),
    bytes: new Uint8Array(3),
    failure: new TypeError('odd'),
    date: new Date(0),
    absent: undefined,
    list: [undefined, 2n],
    last: true,
  }
}

const told = {
  name: 'Ada',
  big: '10n',
  map: { '[Map]': { k: '1n', 2: 'two' } },
  set: { '[Set]': [1, 'b'] },
  ring: '[function ring]',
  nameless: '[function without a name]',
  not: 'NaN',
  endless: 'Infinity',
  mark: '[Symbol(s)]',
  own: { count: 1, self: '[the object that it is in]' },
  lazy: { beside: 1, broken: '[cannot be read: no such thing]' },
  toStore: '[cannot be read: not now]',
  promise: '[Promise]',
  bytes: '[Uint8Array of 3 bytes]',
  failure: '[TypeError: odd]',
  date: '1970-01-01T00:00:00.000Z',
  list: [null, '2n'],
  last: true,
}

it('shows every plain field, and a mark for what has no form in JSON', () => {
  expect(plainValue(odd())).toEqual(told)
})

it('so the context of a chart is shown, and what an action is given', () => {
  const machine = createMachine({
    id: 'odd',
    context: odd,
    initial: 'a',
    states: { a: { on: { GO: { actions: [assign({ name: 'Grace' }), { type: 'tell', params: { of: 3n } }] } } } },
  })
  const { steps } = simulate({ name: 'odd', machine }, { events: [{ type: 'GO' }] })
  expect(steps[0]?.context).toEqual(told)
  expect(steps[1]).toMatchObject({ context: { name: 'Grace', last: true }, asked: [{ params: { of: '3n' } }] })
})

it('leaves what is JSON as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(JSON.stringify(plainValue(value))).toBe(JSON.stringify(value))
    }),
    { seed: 4 },
  )
})

it('gives what can be sent for anything at all, however deep', () => {
  let deep: object = {}
  for (let at = 0; at < 100_000; at += 1) deep = { deep }
  expect(JSON.stringify(plainValue(deep))).toContain('[more inside]')
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true, withTypedArray: true }),
      (value) => {
        expect(typeof JSON.stringify(plainValue(value))).toBe('string')
      },
    ),
    { seed: 4 },
  )
})
