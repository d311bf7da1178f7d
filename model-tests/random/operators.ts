import fc from 'fast-check'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { Receipt } from '../../src/runtime/command.ts'
import { openRig, type Rig } from '../../test/runtime/kit/rig.ts'

export type Move =
  | { readonly do: 'start' | 'supersede' | 'acknowledge' | 'final' | 'crash' }
  | { readonly do: 'followUp'; readonly requires: 'none' | 'success' }
  | { readonly do: 'steer'; readonly mode: 'boundary' | 'interrupt' }
  | { readonly do: 'cancel'; readonly steering: 'inherit' | 'expire' }
  | { readonly do: 'calls'; readonly names: readonly string[] }
  | { readonly do: 'return' | 'throw' | 'stop'; readonly name: string }
  | { readonly do: 'wait'; readonly ms: number }

const tools = ['look', 'note', 'order'] as const
const name = fc.constantFrom(...tools)

/** What operators, models, tools and time do to a session, with the eventful moves as likely as the quiet ones. */
export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.constant<Move>({ do: 'start' }), weight: 3 },
    fc.record({ do: fc.constant('followUp'), requires: fc.constantFrom('none', 'success') }),
    fc.constant<Move>({ do: 'supersede' }),
    fc.record({ do: fc.constant('steer'), mode: fc.constantFrom('boundary', 'interrupt') }),
    fc.record({ do: fc.constant('cancel'), steering: fc.constantFrom('inherit', 'expire') }),
    fc.constant<Move>({ do: 'acknowledge' }),
    fc.constant<Move>({ do: 'final' }),
    {
      arbitrary: fc.record({
        do: fc.constant('calls'),
        names: fc.array(name, { minLength: 1, maxLength: 3 }),
      }),
      weight: 4,
    },
    { arbitrary: fc.record({ do: fc.constantFrom('return', 'throw', 'stop'), name }), weight: 4 },
    fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(10, 5_000, 20_000) }),
    fc.constant<Move>({ do: 'crash' }),
  ),
  { minLength: 8, maxLength: 40, size: 'max' },
)

export interface Played {
  readonly rig: Rig
  readonly facts: readonly StoredFact[]
  /** Every receipt that came back, with what was asked. */
  readonly receipts: readonly { readonly move: Move; readonly receipt: Receipt }[]
}

/** Plays the moves on a rig. A move that the session refuses, or that has nothing to act on, does nothing. */
export async function play(list: readonly Move[]): Promise<Played> {
  const rig = await openRig({ tools: { look: { effect: 'read' }, note: { effect: 'idempotent' }, order: {} } })
  const receipts: { move: Move; receipt: Receipt }[] = []
  for (const move of list) {
    void commanded(rig, move)?.then(
      (receipt) => receipts.push({ move, receipt }),
      () => {},
    )
    await acted(rig, move)
    await rig.time.settle()
  }
  return { rig, facts: await rig.facts(), receipts }
}

function commanded(rig: Rig, move: Move): Promise<Receipt> | null {
  const { session } = rig
  switch (move.do) {
    case 'start':
      return session.start('a question').then((task) => task.receipt)
    case 'followUp':
      return session.followUp('one more question', { requires: move.requires }).then((task) => task.receipt)
    case 'supersede':
      return session.supersede('a better question').then((task) => task.receipt)
    case 'steer':
      return session.steer('mind the gap', { mode: move.mode })
    case 'cancel':
      return session.cancel({ steering: move.steering })
    case 'acknowledge':
      return session.acknowledge('all')
    default:
      return null
  }
}

async function acted(rig: Rig, move: Move): Promise<void> {
  switch (move.do) {
    case 'final':
      if ((await rig.model.waiting()) > 0) (await rig.model.next()).text('an answer at last')
      return
    case 'calls':
      if ((await rig.model.waiting()) > 0) (await rig.model.next()).calls(...move.names.map((tool) => [tool] as const))
      return
    case 'return':
    case 'throw':
    case 'stop':
      return ended(rig, move)
    case 'wait':
      return rig.time.advance(move.ms)
    case 'crash':
      return rig.crashAndReopen()
  }
}

function ended(rig: Rig, move: Extract<Move, { readonly name: string }>): void {
  const running = rig.tool(move.name).calls.at(-1)
  if (move.do === 'return') running?.returns('it was done well')
  else if (move.do === 'throw') running?.throws(new Error('it went wrong'))
  else if (running?.aborted === true) running.acknowledges()
}
