import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { chartless } from '../../machines/routing.ts'
import type { Grant } from '../../machines/vocabulary.ts'
import { defineTool, type Receipt, type Session } from '../../src/index.ts'
import type { SimulatedEvent } from '../../src/inspector/simulator/play-event.ts'
import { simulate } from '../../src/inspector/simulator/simulate.ts'
import { standInScope } from '../../src/inspector/simulator/stand-in-host.ts'
import { gate, runtimeWith } from '../xstate/kit.ts'
import { chartOf, commandOf } from './play-chart.ts'

/** The tools of the page, so that calls which it hears of are calls of its own; here they do something. */
function tools(held: Promise<void>, confirm: 'none' | 'each') {
  return (['idempotent', 'read'] as const).map((effect) =>
    defineTool({
      name: effect === 'read' ? 'fs.read' : 'shop.order',
      description: 'Is asked for by the examples, and never performed.',
      input: z.object({}),
      effect,
      ...(effect === 'read' ? {} : { confirm }),
      run: async () => {
        if (effect === 'idempotent') await held
        return 'done'
      },
    }),
  )
}

const call = (name: string) => ({ name, arguments: {} })

interface Situation {
  readonly model: readonly object[]
  readonly confirm?: 'none' | 'each'
  /** Type of the fact with which the turn has come to rest. */
  readonly until: string
}

const situations: Readonly<Record<string, Situation>> = {
  'a request is under way': { model: [{ hang: true }], until: 'model.requested' },
  'a call is under way': { model: [{ calls: [call('shop.order')] }], until: 'call.started' },
  'a call waits to be confirmed': { model: [{ calls: [call('shop.order')] }], confirm: 'each', until: 'task.paused' },
  'one call waits and another is done': {
    model: [{ calls: [call('shop.order'), call('fs.read')] }],
    confirm: 'each',
    until: 'task.paused',
  },
  'a request follows a call': {
    model: [{ calls: [call('fs.read')] }, { hang: true }],
    until: 'second model.requested',
  },
  'an operator is asked': {
    model: [{ calls: [{ name: 'operator_ask', arguments: { question: 'Which?' } }] }],
    until: 'task.paused',
  },
}

/** Words of all commands of the task chart. */
interface Words {
  readonly name: string
  readonly task: string
  readonly token: string
  readonly input: string
  readonly mode: 'boundary' | 'interrupt'
  readonly reason: string
  readonly steering: 'inherit' | 'expire'
  readonly decision: 'approve' | 'reject' | 'resume'
  readonly confirms?: true
  readonly id: string
  readonly grant: Grant
  readonly parent: string
  readonly propagate: 'cascade' | 'isolate'
}

/** A command of the page, sent to a session. */
function send(session: Session, words: Words): Promise<Receipt> {
  const { name, task, token, input, decision } = words
  switch (name) {
    case 'steer':
      return session.steer(input, { task, mode: words.mode })
    case 'cancel':
      return session.cancel({ task, reason: words.reason, steering: words.steering })
    case 'pause':
      return session.pause({ task })
    case 'resume':
      return words.confirms === true
        ? session.confirm(token, decision === 'approve' ? 'allow' : 'deny')
        : session.resume(token, { decision })
    case 'unblock':
      return session.unblock(task)
    case 'replace':
      return session.replace(task, input)
    case 'reduceGrant':
      return session.reduceGrant(task, words.id, words.grant)
    default:
      return session.spawn(input, { parent: words.parent, propagate: words.propagate }).then(({ receipt }) => receipt)
  }
}

async function arrived(session: Session, until: string) {
  const [type, nth] = until.startsWith('second ') ? [until.slice(7), 2] : [until, 1]
  await expect
    .poll(async () => (await session.log()).filter((fact) => fact.type === type).length, { interval: 2 })
    .toBe(nth)
  return session.log()
}

describe.each(Object.entries(situations))('when %s', (_what, { model, confirm = 'none', until }) => {
  it('every command of the task chart does what it does in a runtime', async () => {
    const held = gate()
    onTestFinished(held.open)
    const script = { everyTurn: [...model, { hang: true }], background: [{ hang: true }] }
    let count = 0
    for (let at = 0, all = 1; at < all; at += 1) {
      // A token is taken only where it was made, so each session is the one of the page, in a store of its own.
      const runtime = await runtimeWith(script, { catalog: tools(held.opened, confirm) })
      const session = runtime.session(standInScope)
      const { id } = await session.start('x')
      const before = await arrived(session, until)
      const [input, ...events] = before.filter(({ task, type }) => task === id && !chartless.has(type))
      const played = events as unknown[] as SimulatedEvent[]
      const { commands, due, steps: sofar } = simulate(chartOf('task'), { input, events: played })
      expect(due).toBeNull()
      for (const { accepted } of sofar) expect(accepted).toBe(true)
      all = commands.length
      const { command, label } = commands[at] as (typeof commands)[number]
      const { steps } = simulate(chartOf('task'), { input, events: [...played, commandOf(command)] })
      const { result, code, drafted } = steps.at(-1)?.receipt ?? {}
      const real = await send(session, command as object as Words).then(
        (receipt) => ({ result: receipt.result as string, code: null }),
        (error: { code: string }) => ({ result: 'refused', code: error.code }),
      )
      expect({ result, code }, label).toEqual(real)
      const after = (await session.log()).slice(before.length)
      const step = after.filter((fact) => fact.step === after[0]?.step)
      expect(drafted, label).toEqual(result === 'refused' ? [] : step.map(({ type }) => type))
      count += 1
    }
    expect(count).toBeGreaterThan(8)
  })
})
