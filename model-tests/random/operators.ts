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
  | { readonly do: 'spawn'; readonly under: number | null; readonly isolate: boolean; readonly key: number | null }
  | { readonly do: 'cancelOne'; readonly nth: number }
  | { readonly do: 'group'; readonly act: 'seal' | 'cancel' | 'new' }

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
        names: fc.array(
          fc.oneof(
            { arbitrary: name, weight: 4 },
            {
              arbitrary: fc.constantFrom('task_spawn', 'task_spawn', 'task_await', 'task_await', 'operator_ask'),
              weight: 2,
            },
          ),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      weight: 4,
    },
    { arbitrary: fc.record({ do: fc.constantFrom('return', 'throw', 'stop'), name }), weight: 4 },
    fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(10, 5_000, 20_000) }),
    fc.constant<Move>({ do: 'crash' }),
    {
      arbitrary: fc.record({
        do: fc.constant('spawn'),
        under: fc.option(fc.nat({ max: 3 })),
        isolate: fc.boolean(),
        key: fc.option(fc.nat({ max: 1 })),
      }),
      weight: 3,
    },
    { arbitrary: fc.constant<Move>({ do: 'calls', names: ['task_spawn', 'task_await'] }), weight: 2 },
    fc.record({ do: fc.constant('cancelOne'), nth: fc.nat({ max: 3 }) }),
    fc.record({ do: fc.constant('group'), act: fc.constantFrom('seal', 'cancel', 'new') }),
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

const argumentsOf: { readonly [tool: string]: object } = {
  task_spawn: { input: 'a job below' },
  task_await: { waitMs: 5_000 },
  operator_ask: { question: 'which one?', waitMs: 20_000 },
}

/** The nth of the tasks that live, from the newest. */
async function atWork(rig: Rig, nth: number): Promise<string> {
  const living = (await rig.session.tasks()).filter(({ state }) => state !== 'terminal').reverse()
  return living[nth]?.id ?? 'none'
}

async function spawned(rig: Rig, move: Extract<Move, { readonly do: 'spawn' }>): Promise<Receipt> {
  const parent = move.under === null ? {} : { parent: await atWork(rig, move.under) }
  const group = (await rig.session.groups()).find(({ state }) => state === 'open')?.id
  const { receipt } = await rig.session.spawn('a job', {
    propagate: move.isolate ? 'isolate' : 'cascade',
    ...parent,
    ...(move.key === null ? {} : { idempotencyKey: `key ${move.key}` }),
    ...(group === undefined ? {} : { group }),
  })
  return receipt
}

/** At most one group takes members at a time. */
async function grouped(rig: Rig, act: 'seal' | 'cancel' | 'new'): Promise<Receipt> {
  const open = (await rig.session.groups()).find(({ state }) => state === 'open' || state === 'sealed')
  if (act === 'new' || open === undefined) {
    await rig.session.group({ failFast: act === 'new' })
    return { result: 'joined' }
  }
  return rig.session.groupOf(open.id)[act]()
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
    case 'spawn':
      return spawned(rig, move)
    case 'cancelOne':
      return atWork(rig, move.nth).then((task) => session.cancel({ task }))
    case 'group':
      return grouped(rig, move.act)
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
      if ((await rig.model.waiting()) > 0)
        (await rig.model.next()).calls(...move.names.map((tool) => [tool, argumentsOf[tool] ?? {}] as const))
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
