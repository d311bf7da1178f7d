import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { FactType } from '../../../machines/facts.ts'
import type { CapabilityProvider } from '../../../src/capabilities/capability-provider.ts'
import { type McpProviderOptions, mcpProvider } from '../../../src/capabilities/mcp/mcp-provider.ts'
import type { StoredFact, StoredFactOf } from '../../../src/facts/envelope.ts'
import { memoryLog } from '../../../src/log/memory/memory-log.ts'
import { scriptedModel } from '../../../src/models/scripted-model.ts'
import { openRuntime } from '../../../src/runtime/open-runtime.ts'
import type { RuntimeOptions } from '../../../src/runtime/options.ts'
import { verifyStore } from '../../../src/testing/verify-store.ts'
import { tempFolder } from '../../log/temp-store.ts'

const program = fileURLToPath(new URL('server.mjs', import.meta.url))
export type Way = 'stdio' | 'http'

export interface TestServer {
  readonly folder: string
  readonly options: Pick<McpProviderOptions, 'name' | 'command' | 'url'>
  /** What the server says that it did, oldest first. */
  happened(): readonly string[]
  provider(more?: Partial<McpProviderOptions>): CapabilityProvider
  /** Of a server over HTTP: ends its process, and starts another one at the same address. */
  kill(): Promise<void>
  again(): Promise<void>
}

/** A real MCP server, started by the provider or, over HTTP, by the test. */
export async function mcpServer(way: Way): Promise<TestServer> {
  const folder = tempFolder()
  const happened = () => {
    const file = join(folder, 'happened')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }
  let child: ChildProcess | null = null
  const startHttp = async (port: string) => {
    const started = spawn(process.execPath, [program, folder, 'http', port], { stdio: 'ignore' })
    child = started
    await expect.poll(() => answers(folder), { timeout: 20_000 }).toBe(true)
  }
  const kill = async () => {
    const running = child
    if (running === null || running.exitCode !== null || running.signalCode !== null) return
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await gone
  }
  onTestFinished(kill)
  if (way === 'http') await startHttp('0')
  const portOf = () => readFileSync(join(folder, 'port'), 'utf8')
  const options: TestServer['options'] =
    way === 'http'
      ? { name: 'here', url: `http://127.0.0.1:${portOf()}/mcp` }
      : { name: 'here', command: [process.execPath, program, folder] }
  return {
    folder,
    options,
    happened,
    provider: (more = {}) => mcpProvider({ ...options, trust: 'operator', ...more }),
    kill,
    again: () => startHttp(portOf()),
  }
}

async function answers(folder: string): Promise<boolean> {
  if (!existsSync(join(folder, 'port'))) return false
  try {
    await fetch(`http://127.0.0.1:${readFileSync(join(folder, 'port'), 'utf8')}/`, { method: 'DELETE' })
    return true
  } catch {
    return false
  }
}

export type AskedCall = readonly [tool: string, args?: Readonly<Record<string, unknown>>]

const toolName = (tool: string): string => (tool.includes(':') || tool.includes('_list') ? tool : `mcp:here:${tool}`)

/** A runtime whose model asks for these calls, a list an answer and a list of answers a turn, and then says what came last. */
export async function usingServer(
  provider: CapabilityProvider,
  turns: readonly (readonly (readonly AskedCall[])[])[],
  options: Partial<RuntimeOptions> = {},
) {
  const log = memoryLog()
  const model = scriptedModel({
    turns: turns.map((answers) => [
      ...answers.map((calls) => ({
        calls: calls.map(([tool, args = {}]) => ({ name: toolName(tool), arguments: args as never })),
      })),
      { text: '{{last}}' },
    ]),
  })
  const runtime = await openRuntime({
    log,
    model,
    limits: { graceMs: 1_000 },
    ...options,
    catalog: [provider, ...(options.catalog ?? [])],
  })
  onTestFinished(() => runtime.close())
  const session = runtime.session({ tenant: 't', user: 'u', session: 's' })
  const facts = async <T extends FactType>(type: T) =>
    (await session.log()).filter((fact) => fact.type === type) as readonly StoredFact[] as readonly StoredFactOf<T>[]
  const verified = async () => {
    for await (const { violations } of verifyStore(log)) expect(violations).toEqual([])
  }
  /** One turn to its end, with its outcome and the result of its last call as the model read it. */
  const turn = async () => {
    const outcome = await (await session.start('Go on.')).outcome()
    await verified()
    return outcome
  }
  const started = async (tool: string) => {
    await expect
      .poll(async () => (await session.calls()).at(-1))
      .toMatchObject({ name: `mcp:here:${tool}`, state: 'started' })
  }
  return { runtime, session, facts, verified, turn, started, log }
}

/** Dead, or dead and not collected yet. */
export function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return true
  }
}
