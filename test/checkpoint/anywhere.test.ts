import { expect, it, vi } from 'vitest'
import type { Log } from '../../src/facts/log-port.ts'
import type { Model, ModelChunk, ModelRequest } from '../../src/facts/ports.ts'
import { memoryLog } from '../../src/log/memory/memory-log.ts'
import { openRuntime } from '../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../src/runtime/options.ts'
import type { Session } from '../../src/runtime/session.ts'
import { quickTool } from '../capabilities/kit.ts'
import { scope } from '../runtime/kit/rig.ts'
import { seededRandom } from '../runtime/kit/virtual-time.ts'
import { verified } from './kit/elsewhere.ts'

vi.setConfig({ testTimeout: 120_000 })

const catalog = [quickTool('dump', { run: () => 'An output that goes on. '.repeat(90) }), quickTool('look')]
const context = { windowTokens: 20_000, reserveTokens: 1_000, thresholdTokens: 11_000, tailMessages: 6 }

/** Explores, dumps, looks and talks, by what it has seen and no clock: the same request is given the same answer. */
class Rambling implements Model {
  readonly name = 'rambling'
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  async *request(request: ModelRequest): AsyncGenerator<ModelChunk> {
    const usage = { input: 100, output: 20 }
    const random = seededRandom(this.#seed + request.turn * 31 + request.step)
    const words = 'So it goes and so it went. '.repeat(1 + Math.floor(random.next() * 25))
    yield { type: 'text', text: request.purpose === 'summary' ? `Told ${request.messages.length} times.` : words }
    const kind = Math.floor(random.next() * 5)
    if (request.purpose === 'summary' || request.step > 3 || kind === 0) yield { type: 'finish', reason: 'stop', usage }
    else {
      if (kind === 1) yield { type: 'call', name: 'episode_start', arguments: { kind: 'exploration', goal: 'find' } }
      if (kind === 2) yield { type: 'call', name: 'episode_end', arguments: { conclusion: words } }
      yield { type: 'call', name: kind === 3 ? 'dump' : 'look', arguments: { id: String(random.next()) } }
      yield { type: 'finish', reason: 'calls', usage }
    }
  }
}

async function askedLast(session: Session): Promise<ModelRequest> {
  const asked = (await session.log()).findLast(({ type, data }) => type === 'model.requested' && 'purpose' in data)
  return session.request({ seq: asked?.seq ?? 0 })
}

const ended = new Set(['task.completed', 'task.failed'])

it.each([
  ['left out', {}, 3],
  ['left out, otherwise', {}, 11],
  ['summarised', { summaryModel: new Rambling(5) }, 7],
] as const)(
  'after any turn of a session whose older part is %s, it goes on elsewhere with the same view and the same next request',
  async (_name, more, seed) => {
    const options: Omit<RuntimeOptions, 'log'> = { model: new Rambling(seed), catalog, context, ...more }
    const store = memoryLog()
    const open = (log: Log) => openRuntime({ log, ...options })
    const origin = await open(store)
    const session = origin.session(scope)
    const next: ModelRequest[] = []
    for (let turn = 0; turn < 24; turn += 1) {
      await (await session.start(`Turn ${turn}. ${'Please go on. '.repeat((turn * 7) % 40)}`)).outcome()
      const requested = (await session.log()).filter(({ type }) => type === 'model.requested')
      const first = requested.find(({ task }) => task === requested.at(-1)?.task)
      next.push(await session.request({ seq: first?.seq ?? 0 }))
    }
    const ends = (await session.log()).filter(({ type }) => ended.has(type))
    const shown = new Set<string>()
    for (const [turn, { seq }] of ends.slice(0, -1).entries()) {
      if (turn % 3 !== 0) continue
      const checkpoint = await session.checkpoint({ at: seq })
      for (const entry of checkpoint.context.view) for (const name of Object.keys(entry)) shown.add(name)
      const log = memoryLog()
      const runtime = await open(log)
      const restored = await runtime.restore(checkpoint)
      expect((await restored.checkpoint()).context).toEqual(checkpoint.context)
      await (await restored.start(`Turn ${turn + 1}. ${'Please go on. '.repeat(((turn + 1) * 7) % 40)}`)).outcome()
      const requested = (await restored.log()).filter(({ type }) => type === 'model.requested')
      expect(await restored.request({ seq: requested[0]?.seq ?? 0 })).toEqual(next[turn + 1])
      expect((await askedLast(restored)).turn).toBe(turn + 1)
      await runtime.close()
      await verified(log)
    }
    expect([...shown]).toEqual(expect.arrayContaining(['message', 'rank', 'observed', 'episode']))
    expect(shown.has('summary') || shown.has('note')).toBe(true)
    await origin.close()
  },
)
