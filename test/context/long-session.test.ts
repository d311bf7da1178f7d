import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openCallsAfter } from '../../src/context/conversation.ts'
import { occupancyOfMessage, occupancyOfTools, utf8Bytes } from '../../src/context/occupancy.ts'
import type { Log, StepAppend } from '../../src/facts/log-port.ts'
import type { Model, ModelChunk, ModelRequest } from '../../src/facts/ports.ts'
import { sqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { openRuntime, type Runtime } from '../../src/runtime/open-runtime.ts'
import { checkLog } from '../../src/testing/check-log.ts'
import { verifyStore } from '../../src/testing/verify-store.ts'
import { quickTool } from '../capabilities/kit.ts'
import { seededRandom } from '../runtime/kit/virtual-time.ts'

const windowTokens = 32 * 1024
const turns = 500
const scope = { tenant: 't', user: 'u', session: 's' }

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'long-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Calls a tool in the first step of a turn, reads an observation when it sees a new one, and answers then. */
class Chatty implements Model {
  readonly name = 'chatty'
  readonly problems: string[] = []
  readonly #random = seededRandom(17)
  readonly #read = new Set<string>()
  requests = 0

  async *request(request: ModelRequest): AsyncGenerator<ModelChunk> {
    this.requests += 1
    this.#judge(request)
    if (request.purpose === 'summary') yield { type: 'text', text: `They talked ${request.messages.length} times.` }
    else yield* this.#turn(request)
  }

  *#turn(request: ModelRequest): Generator<ModelChunk> {
    const observation = /^\[Observation (\w+):/.exec(request.messages.at(-1)?.content ?? '')?.[1]
    const words = 'So it was said and so it is done. '.repeat(1 + Math.floor(this.#random.next() * 20))
    yield { type: 'text', text: words }
    if (observation !== undefined && !this.#read.has(observation)) {
      this.#read.add(observation)
      yield { type: 'call', name: 'observation_read', arguments: { observation, offset: 100, length: 50 } }
    } else if (request.step === 0) {
      const asked = 1 + Math.floor(this.#random.next() * 3)
      for (let call = 0; call < asked; call += 1)
        yield { type: 'call', name: 'dump', arguments: { id: String(this.#random.next()) } }
    }
  }

  #judge(request: ModelRequest): void {
    let open: readonly string[] | null = []
    let bytes = utf8Bytes(request.system) + occupancyOfTools(request.tools)
    for (const message of request.messages) {
      open = open === null ? null : openCallsAfter(open, message)
      bytes += occupancyOfMessage(message)
    }
    if (open === null || open.length > 0) this.problems.push(`request ${this.requests} splits a call from its result`)
    if (bytes + request.maxOutput > windowTokens) this.problems.push(`request ${this.requests} holds ${bytes} bytes`)
  }
}

/** Chatty without a finish would be no answer; this adds it. */
function finishing(model: Chatty): Model {
  return {
    name: model.name,
    async *request(request) {
      let calls = 0
      for await (const chunk of model.request(request)) {
        if (chunk.type === 'call') calls += 1
        yield chunk
      }
      yield { type: 'finish', reason: calls > 0 ? 'calls' : 'stop', usage: { input: 10, output: 5 } }
    },
  }
}

interface Counted {
  bytes: number
  reads: number
}

/** The log, counting what goes into it and how often it is read. */
function counting(log: Log, counted: Counted): Log {
  return new Proxy(log, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (property === 'append') for (const step of args[0] as readonly StepAppend[]) counted.bytes += sizeOf(step)
        if (property === 'read' || property === 'content') counted.reads += 1
        return Reflect.apply(value, target, args)
      }
    },
  })
}

function sizeOf(step: StepAppend): number {
  return [...step.contents, ...step.shared].reduce((sum, { body }) => sum + body.length, step.body.length)
}

const random = seededRandom(23)
const dump = quickTool('dump', {
  run: () => 'z'.repeat(random.next() < 0.04 ? 40_000 : 100 + Math.floor(random.next() * 1_500)),
})

async function live(summaries: boolean): Promise<{ model: Chatty; log: Log; perTurn: Counted[]; runtime: Runtime }> {
  const counted = { bytes: 0, reads: 0 }
  const log = counting(sqliteLog(join(folder, 'log.db'), { synchronous: 'NORMAL' }), counted)
  const model = new Chatty()
  const runtime = await openRuntime({
    log,
    model: finishing(model),
    ...(summaries ? { summaryModel: finishing(model) } : {}),
    catalog: [dump],
    system: 'Be brief.',
    context: { windowTokens },
  })
  const perTurn: Counted[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    const before = { ...counted }
    const handle = await runtime.session(scope).start(`Turn ${turn}: ${'tell me more of it. '.repeat(turn % 30)}`)
    expect((await handle.outcome()).status).toBe('completed')
    perTurn.push({ bytes: counted.bytes - before.bytes, reads: counted.reads - before.reads })
  }
  return { model, log, perTurn, runtime }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

describe('a session of 500 turns under a window of 32 KiB', () => {
  for (const summaries of [false, true])
    it(`${summaries ? 'with' : 'without'} summaries stays inside it, and every request is built again`, {
      timeout: 120_000,
    }, async () => {
      const { model, log, perTurn, runtime } = await live(summaries)
      expect(model.problems).toEqual([])
      const facts = await runtime.session(scope).log()
      expect(checkLog(facts).violations).toEqual([])
      const algorithms = facts.flatMap((fact) => (fact.type === 'context.compacted' ? [fact.data.algorithm] : []))
      expect(algorithms.filter((name) => name === 'observe/v1').length).toBeGreaterThan(10)
      expect(algorithms.filter((name) => name === (summaries ? 'summarise/v1' : 'evict/v1')).length).toBeGreaterThan(20)
      await runtime.close()
      for await (const { violations, requests } of verifyStore(log)) {
        expect(violations).toEqual([])
        expect(requests).toBe(model.requests)
      }
      const early = perTurn.slice(100, 250)
      const late = perTurn.slice(350)
      expect(mean(late.map(({ bytes }) => bytes))).toBeLessThan(1.2 * mean(early.map(({ bytes }) => bytes)))
      // Steps read nothing from the store; what is read are the observations that the model asks for.
      expect(mean(late.map(({ reads }) => reads))).toBeLessThan(0.5)
      await log.close()
    })
})
