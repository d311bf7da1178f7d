import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLandfallError, OutcomeUnknownError } from '../../src/facts/errors.ts'
import { silentLogger } from '../../src/facts/system-ports.ts'
import { checkAll } from '../runtime/kit/check.ts'
import type { HeldCall } from '../runtime/kit/held-tool.ts'
import { openRig, type Rig } from '../runtime/kit/rig.ts'

const tools = {
  look: { effect: 'read' },
  put: { effect: 'idempotent', confirm: 'once' },
  pay: { effect: 'mutate', timeoutMs: 30_000 },
  wire: { effect: 'mutate', confirm: 'each' },
} as const
const names = Object.keys(tools)

type Move =
  | { readonly do: 'start' | 'pause' | 'cancel' | 'supersede' | 'acknowledge' | 'crash' | 'final' | 'fail' }
  | { readonly do: 'steer'; readonly mode: 'boundary' | 'interrupt' }
  | { readonly do: 'settle'; readonly nth: number; readonly decision: 'approve' | 'reject' | 'resume' | 'timeout' }
  | { readonly do: 'calls'; readonly names: readonly string[] }
  | { readonly do: 'end'; readonly nth: number; readonly how: 'return' | 'throw' | 'lose' | 'stop' | 'pause' }
  | { readonly do: 'wait'; readonly ms: number }

const plain = (what: 'start' | 'pause' | 'cancel' | 'supersede' | 'acknowledge' | 'crash' | 'final' | 'fail') =>
  fc.constant<Move>({ do: what })

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    { arbitrary: plain('start'), weight: 2 },
    { arbitrary: plain('pause'), weight: 2 },
    { arbitrary: plain('crash'), weight: 2 },
    { arbitrary: plain('acknowledge'), weight: 2 },
    plain('cancel'),
    plain('supersede'),
    plain('final'),
    plain('fail'),
    fc.record({ do: fc.constant('steer'), mode: fc.constantFrom('boundary', 'interrupt') }),
    {
      arbitrary: fc.record({
        do: fc.constant('settle'),
        nth: fc.nat({ max: 3 }),
        decision: fc.constantFrom('approve', 'approve', 'resume', 'reject', 'timeout'),
      }),
      weight: 6,
    },
    {
      arbitrary: fc.record({
        do: fc.constant('calls'),
        names: fc.array(fc.constantFrom(...names, 'operator_ask'), { minLength: 1, maxLength: 4 }),
      }),
      weight: 4,
    },
    {
      arbitrary: fc.record({
        do: fc.constant('end'),
        nth: fc.nat({ max: 3 }),
        how: fc.constantFrom('return', 'throw', 'lose', 'stop', 'pause', 'pause'),
      }),
      weight: 6,
    },
    fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, 20_000, 90_000) }),
  ) as fc.Arbitrary<Move>,
  { minLength: 10, maxLength: 40, size: 'max' },
)

/** Calls whose attempts have not been ended by a move. */
function running(rig: Rig, ended: ReadonlySet<HeldCall>): readonly HeldCall[] {
  return names.flatMap((name) => rig.tool(name).calls).filter((call) => !ended.has(call))
}

async function endCall(rig: Rig, call: HeldCall, how: 'return' | 'throw' | 'lose' | 'stop' | 'pause'): Promise<void> {
  if (how === 'return') call.returns()
  else if (how === 'throw') call.throws(new Error('it failed'))
  else if (how === 'lose') call.throws(new OutcomeUnknownError('the connection died'))
  else if (how === 'stop') call.throws(new DOMException('stopped', 'AbortError'))
  else {
    const deadline = new Date(rig.time.now() + 60_000).toISOString()
    await call.context.pause({ reason: 'input', subject: 'Which?', deadline }).catch((signal) => call.throws(signal))
  }
}

async function play(rig: Rig, move: Move, ended: Set<HeldCall>): Promise<void> {
  const { session } = rig
  switch (move.do) {
    case 'start':
      return void (await session.start('do it'))
    case 'supersede':
      return void (await session.supersede('do this'))
    case 'steer':
      return void (await session.steer('mind that', { mode: move.mode }))
    case 'pause':
    case 'cancel':
      return void (await session[move.do]())
    case 'acknowledge':
      return void (await session.acknowledge('all'))
    case 'settle': {
      const pause = (await session.pauses())[move.nth]
      if (pause !== undefined) await session.resume(pause.token, { decision: move.decision, input: move.nth })
      return
    }
    case 'crash':
      return rig.crashAndReopen()
    case 'wait':
      return rig.time.advance(move.ms)
    case 'end': {
      const call = running(rig, ended)[move.nth]
      if (call === undefined) return
      ended.add(call)
      return endCall(rig, call, move.how)
    }
    default:
      return answer(rig, move)
  }
}

async function answer(rig: Rig, move: Move): Promise<void> {
  while ((await rig.model.waiting()) > 1) await rig.model.next()
  if ((await rig.model.waiting()) === 0) return
  const request = await rig.model.next()
  if (move.do === 'final') request.text('done')
  else if (move.do === 'fail') request.fails('RATE_LIMITED', true, 5_000)
  else if (move.do === 'calls')
    request.calls(
      ...move.names.map((name, at): [string, object] => [
        name,
        name === 'operator_ask' ? { question: `${at}?` } : { id: String(at) },
      ]),
    )
}

describe('pauses among everything else', () => {
  it.each(['continue', 'pause'] as const)(
    "leave sound logs, live states that are their folds, and changes that happen once (INV-20, INV-22; onUnknown: '%s')",
    { timeout: 120_000 },
    async (onUnknown) => {
      const seen = new Map<string, number>()
      await fc.assert(
        fc.asyncProperty(moves, async (sequence) => {
          const faults: unknown[] = []
          const logger = { ...silentLogger, error: (...fault: unknown[]) => faults.push(fault) }
          const rig = await openRig({ tools, onUnknown, limits: { graceMs: 5_000, turnMs: 300_000 }, logger })
          const ended = new Set<HeldCall>()
          await rig.session.start('do it')
          for (const move of sequence) {
            await play(rig, move, ended).catch((error: unknown) => {
              if (!isLandfallError(error) || error.code === 'INTERNAL') throw error
            })
            await rig.time.settle()
          }
          for (const { type } of await rig.facts()) seen.set(type, (seen.get(type) ?? 0) + 1)
          expect(faults).toEqual([])
          await checkAll(rig)
        }),
        { numRuns: 60, seed: 20_260_601 },
      )
      for (const type of ['task.paused', 'task.resumed', 'mutation.quarantined', 'run.resumed', 'call.refused'])
        expect(seen.get(type) ?? 0).toBeGreaterThan(4)
    },
  )
})
