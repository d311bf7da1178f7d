import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AnyStateMachine, type AnyStateNode, createMachine, setup } from 'xstate'
import { chartNodes } from '../../src/inspector/chart-edges.ts'
import { mermaidOf } from '../../src/inspector/mermaid.ts'

const chart = setup({ guards: { no: () => false }, actions: { lead: () => {}, note: () => {} } })
const arrowsOf = (machine: AnyStateMachine) =>
  mermaidOf(machine)
    .split('\n')
    .filter((line) => line.includes(' : '))
    .map((line) => line.trim())

/** What a state may do with the event that the state around all of them leads on. */
const ways = {
  nothing: {},
  forbids: { on: { 'X.go': undefined } },
  forbidsAll: { on: { '*': undefined } },
  forbidsFamily: { on: { 'X.*': undefined } },
  takes: { on: { 'X.go': { actions: 'note' } } },
  asks: { on: { 'X.go': { guard: 'no', actions: 'note' } } },
  takesAnother: { on: { X: { actions: 'note' }, 'Y.*': { actions: 'note' } } },
} as const

interface Inner {
  readonly way: keyof typeof ways
  readonly type: 'compound' | 'parallel'
  readonly inside: readonly Inner[]
}

const { inner } = fc.letrec<{ inner: Inner }>((tie) => ({
  inner: fc.record({
    way: fc.constantFrom(...(Object.keys(ways) as (keyof typeof ways)[])),
    type: fc.constantFrom('compound' as const, 'parallel' as const),
    inside: fc.oneof(
      { maxDepth: 2 },
      fc.constant([]),
      fc.array(tie('inner'), { minLength: 1, maxLength: 3 }),
    ) as fc.Arbitrary<readonly Inner[]>,
  }),
}))

function configOf({ way, type, inside }: Inner): object {
  if (inside.length === 0) return ways[way]
  const states = Object.fromEntries(inside.map((each, at) => [`s${at}`, configOf(each)]))
  return { ...ways[way], ...(type === 'parallel' ? { type } : { initial: 's0' }), states }
}

/** Every way of being in a state, as values that XState resolves. */
function valuesOf(node: AnyStateNode): readonly unknown[] {
  const inside = Object.values(node.states) as readonly AnyStateNode[]
  if (inside.length === 0) return [undefined]
  if (node.type !== 'parallel')
    return inside.flatMap((child) =>
      valuesOf(child).map((value) => (value === undefined ? child.key : { [child.key]: value })),
    )
  return inside.reduce<readonly object[]>(
    (all, child) => all.flatMap((one) => valuesOf(child).map((value) => ({ ...one, [child.key]: value ?? {} }))),
    [{}],
  )
}

describe('an arrow of a state into its own child', () => {
  it('is not drawn from a sibling that forbids the event or takes it always', () => {
    const machine = createMachine({
      id: 'f',
      initial: 'a',
      on: { X: '.b' },
      states: { a: { on: { X: undefined } }, b: {}, c: {}, d: { on: { '*': 'c' } }, e: { on: { X: 'c' } } },
    })
    expect(arrowsOf(machine).filter((line) => line.includes('--> ') && line.endsWith(': X'))).toEqual([
      'f_c --> f_b : X',
      'f_e --> f_c : X',
    ])
  })

  it('is drawn from the child itself where no sibling lets the event through, and not at all where that does not either', () => {
    const forbids = { on: { X: undefined } }
    const drawn = (b: object) =>
      arrowsOf(createMachine({ id: 'f', initial: 'a', on: { X: '.b' }, states: { a: forbids, b } })).filter((line) =>
        line.includes('-->'),
      )
    expect(drawn({})).toEqual(['f_b --> f_b : X'])
    expect(drawn(forbids)).toEqual([])
  })

  it('knows of eventless transitions, too', () => {
    const machine = createMachine({
      id: 'f',
      initial: 'a',
      always: { guard: () => false, target: '.b' },
      states: { a: { always: 'c' }, b: {}, c: {} },
    })
    expect(arrowsOf(machine).filter((line) => line.includes('--> f_b'))).toHaveLength(1)
  })

  it('is drawn from a sibling exactly where XState would take it in some state inside', () => {
    fc.assert(
      fc.property(inner, (sibling) => {
        const machine: AnyStateMachine = chart.createMachine({
          id: 'f',
          initial: 'a',
          on: { 'X.go': { target: '.b', actions: 'lead' } },
          states: { a: configOf(sibling), b: {}, c: {} },
        })
        const a = chartNodes(machine).find(({ id }) => id === 'f.a') as AnyStateNode
        const lets = valuesOf(a).some((value) => {
          const snapshot = machine.resolveState({ value: value === undefined ? 'a' : { a: value } } as never)
          return machine
            .getTransitionData(snapshot, { type: 'X.go' })
            .some(({ source }: { source: AnyStateNode }) => source === machine.root)
        })
        expect(arrowsOf(machine).includes('f_a --> f_b : X.go / lead')).toBe(lets)
      }),
      { numRuns: 300, seed: 10 },
    )
  })
})
