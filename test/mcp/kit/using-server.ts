import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { FactType } from '../../../machines/facts.ts'
import type { CapabilityProvider } from '../../../src/capabilities/capability-provider.ts'
import type { StoredFact, StoredFactOf } from '../../../src/facts/envelope.ts'
import type { Log } from '../../../src/facts/log-port.ts'
import type { Model, ModelChunk, Scheduler } from '../../../src/facts/ports.ts'
import { systemClock, systemScheduler } from '../../../src/facts/system-ports.ts'
import { memoryLog } from '../../../src/log/memory/memory-log.ts'
import { openRuntime, type Runtime } from '../../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../../src/runtime/options.ts'
import { verifyStore } from '../../../src/testing/verify-store.ts'
import { startServer, type Way } from './test-server.ts'

export type AskedCall = readonly [tool: string, args?: Readonly<Record<string, unknown>>]

const toolName = (tool: string): string => (tool.includes(':') || tool.includes('_list') ? tool : `mcp:here:${tool}`)

type Turns = readonly (readonly (readonly AskedCall[])[])[]

/** A model that asks for what its input says, a list of calls an answer, and then says what came last. */
const obedient: Model = {
  name: 'obedient',
  async *request({ messages, step }): AsyncGenerator<ModelChunk> {
    const told = messages.findLast(({ role }) => role === 'user')?.content ?? '[]'
    const calls = (JSON.parse(told) as Turns[number])[step]
    for (const [tool, args = {}] of calls ?? []) yield { type: 'call', name: toolName(tool), arguments: args }
    if (calls === undefined) yield { type: 'text', text: messages.at(-1)?.content ?? '' }
    yield { type: 'finish', reason: calls === undefined ? 'stop' : 'calls', usage: { input: 1, output: 1 } }
  },
}

/** A runtime with such a model, for many sessions. */
export async function obedientRuntime(
  catalog: NonNullable<RuntimeOptions['catalog']>,
  options: Partial<RuntimeOptions> = {},
) {
  const log = memoryLog()
  const runtime = await openRuntime({ log, model: obedient, limits: { graceMs: 400 }, ...options, catalog })
  let sessions = 0
  /** A session whose turns ask for these calls, a list an answer and a list of answers a turn. */
  const using = (turns: Turns) => {
    sessions += 1
    return sessionOf(runtime, log, { turns, name: `s${sessions}` })
  }
  return { runtime, log, using }
}

export async function usingServer(provider: CapabilityProvider, turns: Turns, options: Partial<RuntimeOptions> = {}) {
  const { runtime, using } = await obedientRuntime([provider, ...(options.catalog ?? [])], options)
  onTestFinished(() => runtime.close())
  return using(turns)
}

function sessionOf(runtime: Runtime, log: Log, of: { readonly turns: Turns; readonly name: string }) {
  const session = runtime.session({ tenant: 't', user: 'u', session: of.name })
  const facts = async <T extends FactType>(type: T) =>
    (await session.log()).filter((fact) => fact.type === type) as readonly StoredFact[] as readonly StoredFactOf<T>[]
  const verified = async () => {
    for await (const { violations } of verifyStore(log)) expect(violations).toEqual([])
  }
  let began = 0
  const begin = () => {
    began += 1
    return session.start(JSON.stringify(of.turns[began - 1] ?? []))
  }
  /** One turn to its end, with its outcome and the result of its last call as the model read it. */
  const turn = async () => {
    const outcome = await (await begin()).outcome()
    await verified()
    return outcome
  }
  const started = async (tool: string) => {
    await expect
      .poll(async () => (await session.calls()).at(-1), { interval: 10 })
      .toMatchObject({ name: `mcp:here:${tool}`, state: 'started' })
  }
  return { runtime, session, facts, verified, begin, turn, started, log }
}

/** A server and a runtime for all tests of a suite. What happened before a test is none of its business. */
export async function sharedServer(way: Way) {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-mcp-'))
  const server = await startServer(way, folder)
  const { runtime, using } = await obedientRuntime([server.provider()])
  const close = async () => {
    await runtime.close()
    await server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  const sinceNow = () => {
    const before = server.happened().length
    return { ...server, happened: () => server.happened().slice(before) }
  }
  return { server, runtime, using, sinceNow, close }
}

/** Waits of ours that pass ten times as fast, for what is tried again after a while. */
export const hurried: Scheduler = {
  at: (at, task) => systemScheduler().at(systemClock.now() + (at - systemClock.now()) / 10, task),
  soon: (task) => systemScheduler().soon(task),
}
