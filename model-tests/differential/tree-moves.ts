import fc from 'fast-check'
import type { ToolName } from './moves.ts'

/** One thing that happens to a tree of tasks. Numbers name tasks, calls and groups by their age, from 0. */
export type TreeMove =
  | { readonly do: 'start' | 'supersede' | 'acknowledge' | 'grace' | 'close' | 'reopen' }
  | { readonly do: 'crash' }
  | {
      readonly do: 'spawn'
      readonly parent?: number
      readonly propagate: 'cascade' | 'isolate'
      readonly group?: number
      readonly key?: number
    }
  | { readonly do: 'group'; readonly failFast: boolean }
  | { readonly do: 'seal' | 'cancelGroup'; readonly group: number }
  | { readonly do: 'final' | 'refuse' | 'cancel'; readonly task: number }
  | { readonly do: 'calls'; readonly task: number; readonly names: readonly ToolName[]; readonly awaits?: Awaited }
  | { readonly do: 'steer'; readonly task: number; readonly mode: 'boundary' | 'interrupt' }
  | { readonly do: 'return' | 'stop'; readonly call: number }

export type Awaited = { readonly task: number } | { readonly group: number }

const age = fc.nat({ max: 6 })
const groupAge = fc.nat({ max: 1 })
const awaited: fc.Arbitrary<Awaited> = fc.oneof(fc.record({ task: age }), fc.record({ group: groupAge }))

const spawn: fc.Arbitrary<TreeMove> = fc
  .record(
    {
      parent: fc.nat({ max: 4 }),
      propagate: fc.constantFrom('cascade', 'cascade', 'isolate'),
      group: groupAge,
      key: fc.nat({ max: 2 }),
    },
    { requiredKeys: ['propagate'] },
  )
  .map((each): TreeMove => ({ do: 'spawn', ...each }))

const moves: fc.Arbitrary<TreeMove> = fc.oneof(
  { arbitrary: spawn, weight: 6 },
  { arbitrary: fc.boolean().map((failFast): TreeMove => ({ do: 'group', failFast })), weight: 2 },
  { arbitrary: fc.record({ do: fc.constantFrom('seal', 'cancelGroup', 'seal'), group: groupAge }), weight: 2 },
  { arbitrary: fc.record({ do: fc.constantFrom('final', 'refuse', 'cancel', 'final'), task: age }), weight: 6 },
  {
    arbitrary: fc.record(
      {
        do: fc.constant('calls'),
        task: age,
        names: fc.array(fc.constantFrom('look', 'note', 'order'), { maxLength: 2 }),
        awaits: awaited,
      },
      { requiredKeys: ['do', 'task', 'names'] },
    ),
    weight: 9,
  },
  {
    arbitrary: fc.record({ do: fc.constant('steer'), task: age, mode: fc.constantFrom('boundary', 'interrupt') }),
    weight: 2,
  },
  { arbitrary: fc.record({ do: fc.constantFrom('return', 'stop'), call: fc.nat({ max: 4 }) }), weight: 4 },
  {
    arbitrary: fc.constantFrom<TreeMove>(
      { do: 'start' },
      { do: 'start' },
      { do: 'supersede' },
      { do: 'acknowledge' },
      { do: 'grace' },
      { do: 'crash' },
      { do: 'crash' },
    ),
    weight: 4,
  },
  { arbitrary: fc.constantFrom<TreeMove>({ do: 'close' }, { do: 'reopen' }, { do: 'reopen' }), weight: 1 },
)

export const treeMoves: fc.Arbitrary<TreeMove[]> = fc
  .array(moves, { minLength: 8, maxLength: 36, size: 'max' })
  .map((rest): TreeMove[] => [
    { do: 'start' },
    { do: 'group', failFast: true },
    { do: 'spawn', parent: 0, propagate: 'cascade', group: 0 },
    { do: 'spawn', parent: 1, propagate: 'cascade' },
    ...rest,
  ])
