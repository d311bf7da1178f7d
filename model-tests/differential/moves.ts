import fc from 'fast-check'

/** One thing that an operator, a model, a tool or time does. Numbers name tasks and calls by their age, from 0. */
export type Move =
  | { readonly do: 'start' | 'reopen' | 'pause' }
  | { readonly do: 'resume'; readonly decision: 'resume' | 'reject' }
  | { readonly do: 'final' | 'stale' | 'grace' | 'moment' | 'crash' }
  | { readonly do: 'followUp'; readonly requires: 'none' | 'success' }
  | { readonly do: 'supersede'; readonly task?: number }
  | { readonly do: 'steer'; readonly mode: 'boundary' | 'interrupt'; readonly task?: number }
  | { readonly do: 'cancel'; readonly steering: 'inherit' | 'expire'; readonly task?: number }
  | { readonly do: 'unblock' | 'replace'; readonly task: number }
  | { readonly do: 'acknowledge'; readonly which: 'all' | number }
  | { readonly do: 'close' | 'erase'; readonly cancel: boolean }
  | { readonly do: 'calls'; readonly names: readonly ToolName[] }
  | { readonly do: 'return' | 'throw' | 'lose' | 'stop'; readonly call: number }

export const toolNames = ['look', 'note', 'order'] as const
export type ToolName = (typeof toolNames)[number]
export const effectOf = { look: 'read', note: 'idempotent', order: 'mutate' } as const

const age = fc.nat({ max: 7 })
/** The task that the session would act on by itself, or one that the command names. */
const named = fc.oneof(
  { arbitrary: fc.constant({}), weight: 3 },
  { arbitrary: age.map((task) => ({ task })), weight: 1 },
)
const plain = (
  what: 'start' | 'final' | 'stale' | 'grace' | 'moment' | 'crash' | 'reopen' | 'pause',
  weight: number,
) => ({
  arbitrary: fc.constant<Move>({ do: what }),
  weight,
})

const operator: fc.Arbitrary<Move> = fc.oneof(
  plain('start', 4),
  { arbitrary: fc.record({ do: fc.constant('followUp'), requires: fc.constantFrom('none', 'success') }), weight: 4 },
  { arbitrary: named.map((task): Move => ({ do: 'supersede', ...task })), weight: 3 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('boundary', 'interrupt'), named)
      .map(([mode, task]): Move => ({ do: 'steer', mode, ...task })),
    weight: 4,
  },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('inherit', 'expire'), named)
      .map(([steering, task]): Move => ({ do: 'cancel', steering, ...task })),
    weight: 3,
  },
  { arbitrary: fc.record({ do: fc.constantFrom('unblock', 'replace'), task: age }), weight: 2 },
  { arbitrary: fc.record({ do: fc.constant('acknowledge'), which: fc.constantFrom('all' as const, 0, 1) }), weight: 2 },
  { arbitrary: fc.boolean().map((cancel): Move => ({ do: 'close', cancel })), weight: 1 },
  plain('reopen', 1),
  plain('pause', 2),
  {
    arbitrary: fc.record({ do: fc.constant('resume'), decision: fc.constantFrom('resume', 'resume', 'reject') }),
    weight: 2,
  },
)

const world: fc.Arbitrary<Move> = fc.oneof(
  plain('final', 3),
  {
    arbitrary: fc.record({
      do: fc.constant('calls'),
      names: fc.array(fc.constantFrom(...toolNames), { minLength: 1, maxLength: 3 }),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      do: fc.constantFrom('return', 'throw', 'lose', 'stop'),
      call: fc.oneof({ arbitrary: fc.nat({ max: 2 }), weight: 4 }, { arbitrary: fc.nat({ max: 9 }), weight: 1 }),
    }),
    weight: 8,
  },
  plain('grace', 2),
  plain('moment', 1),
  plain('crash', 2),
  plain('stale', 1),
)

/** Sessions in which something happens: the first turn is begun, and now and then a session is erased at the end. */
export const moves: fc.Arbitrary<Move[]> = fc
  .tuple(
    fc.array(fc.oneof({ arbitrary: operator, weight: 1 }, { arbitrary: world, weight: 1 }), {
      minLength: 6,
      maxLength: 40,
      size: 'max',
    }),
    fc.array(
      fc.boolean().map((cancel): Move => ({ do: 'erase', cancel })),
      { maxLength: 2 },
    ),
  )
  .map(([middle, end]): Move[] => [{ do: 'start' }, ...middle, ...end])
