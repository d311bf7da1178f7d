import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { CapabilityProvider } from '../../../src/capabilities/capability-provider.ts'
import { type McpProviderOptions, mcpProvider } from '../../../src/capabilities/mcp/mcp-provider.ts'
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

/** A real MCP server for one test, started by the provider or, over HTTP, by the test. */
export async function mcpServer(way: Way): Promise<TestServer> {
  const server = await startServer(way, tempFolder())
  onTestFinished(() => server.kill())
  return server
}

/** The same for who ends it himself, and keeps the folder. */
export async function startServer(way: Way, folder: string): Promise<TestServer> {
  let child: ChildProcess | null = null
  let at = '0'
  const startHttp = async () => {
    const started = spawn(process.execPath, [program, folder, 'http', at], { stdio: ['ignore', 'pipe', 'ignore'] })
    child = started
    // It says its port when it listens.
    const [said] = (await once(started.stdout, 'data')) as [Buffer]
    at = said.toString()
  }
  if (way === 'http') await startHttp()
  const options: TestServer['options'] =
    way === 'http'
      ? { name: 'here', url: `http://127.0.0.1:${at}/mcp` }
      : { name: 'here', command: [process.execPath, program, folder] }
  return {
    folder,
    options,
    happened: () => linesOf(folder),
    provider: (more = {}) => mcpProvider({ ...options, trust: 'operator', ...more }),
    async kill() {
      const running = child
      if (running === null || running.exitCode !== null || running.signalCode !== null) return
      running.kill('SIGKILL')
      await once(running, 'exit')
    },
    again: startHttp,
  }
}

function linesOf(folder: string): readonly string[] {
  const file = join(folder, 'happened')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** Dead, or dead and not collected yet. */
export function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return true
  }
}
