import { LandfallError } from '../../facts/errors.ts'
import { limits } from '../../facts/limits.ts'
import type { CapabilityProvider } from '../capability-provider.ts'
import { loadSdk, type Sdk } from './load-sdk.ts'
import { httpLines, stdioLines } from './mcp-lines.ts'
import { McpServer } from './mcp-server.ts'
import type { ToolRules } from './mcp-tools.ts'

/** A server is a program that is started and spoken to over its standard input and output, or an address. */
export interface McpProviderOptions extends ToolRules {
  /** Its tools are `mcp:<name>:<tool>`. */
  readonly name: string
  readonly command?: string | readonly string[]
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Besides what every program needs; nothing else of the environment is passed on. */
  readonly env?: Readonly<Record<string, string>>
  readonly url?: string | URL
  readonly headers?: Readonly<Record<string, string>>
  /** Longest handshake, and longest listing of tools. */
  readonly connectMs?: number
  /** Most bytes of a result, at most the bound of the limits file. */
  readonly outputBytes?: number
}

const lawfulServer = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const connectMs = 10_000
const known: Readonly<Record<keyof McpProviderOptions, true>> = {
  name: true,
  command: true,
  args: true,
  cwd: true,
  env: true,
  url: true,
  headers: true,
  trust: true,
  effects: true,
  confirm: true,
  load: true,
  timeoutMs: true,
  connectMs: true,
  outputBytes: true,
}

/**
 * An MCP server whose tools a runtime may use. Unless `trust` says otherwise nobody vouches for the server: its descriptions are
 * withheld, its hints are not believed, and only the host's policy lets a task use anything of it.
 */
export function mcpProvider(options: McpProviderOptions): CapabilityProvider {
  checkOptions(options)
  const { name, trust, effects, confirm, load, timeoutMs } = options
  const rules = present({ trust, effects, confirm, load, timeoutMs }) as ToolRules
  return Object.freeze({
    kind: 'provider',
    provider: `mcp:${name}`,
    async bind(hooks) {
      const sdk = await loadSdk()
      const outputBytes = Math.min(options.outputBytes ?? hooks.limits.outputBytes, hooks.limits.outputBytes)
      const lines = linesOf(options, sdk)
      const server = new McpServer(
        { name, rules, connectMs: options.connectMs ?? connectMs, outputBytes, sdk, lines: () => lines(hooks) },
        hooks,
      )
      try {
        return { offer: await server.bind(), close: () => server.close() }
      } catch (error) {
        await server.close()
        throw error
      }
    },
  } satisfies CapabilityProvider)
}

type LinesOf = (hooks: Parameters<typeof stdioLines>[1]) => ReturnType<typeof stdioLines>

function linesOf({ name, command, args = [], cwd, env, url, headers = {} }: McpProviderOptions, sdk: Sdk): LinesOf {
  if (url !== undefined) return (hooks) => httpLines({ name, url: new URL(url), headers }, sdk, hooks)
  const argv = [...(typeof command === 'string' ? [command] : (command ?? [])), ...args]
  const place = present({ cwd, env }) as { cwd?: string; env?: Readonly<Record<string, string>> }
  return (hooks) => stdioLines({ argv, ...place }, hooks)
}

function present(values: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function checkOptions(options: McpProviderOptions): void {
  if (typeof options !== 'object' || options === null) throw refused('options', 'must be an object')
  for (const field of Object.keys(options))
    if (!Object.hasOwn(known, field)) throw refused(field, `is not known; known are ${Object.keys(known).join(', ')}`)
  const { name, command, args, url, trust, effects = {}, connectMs: connect, outputBytes, timeoutMs } = options
  if (typeof name !== 'string' || !lawfulServer.test(name))
    throw refused('name', 'must be 1 to 64 letters, digits, dots, hyphens and underscores')
  if ((command === undefined) === (url === undefined)) throw refused('command', 'or url must be given, and not both')
  if (command !== undefined && (command.length === 0 || !isWords(typeof command === 'string' ? [command] : command)))
    throw refused('command', 'must be a program, or a list of words that begins with one')
  if (args !== undefined && !isWords(args)) throw refused('args', 'must be a list of words')
  if (url !== undefined && !(URL.canParse(String(url)) && /^https?:$/.test(new URL(url).protocol)))
    throw refused('url', 'must be an http or https address')
  if (trust !== undefined && trust !== 'operator' && trust !== 'untrusted')
    throw refused('trust', 'must be operator or untrusted')
  checkPlaces(options)
  const idle = command === undefined ? (['args', 'cwd', 'env'] as const) : (['headers'] as const)
  for (const field of idle)
    if (options[field] !== undefined)
      throw refused(field, `means nothing for a ${command === undefined ? 'url' : 'command'}`)
  if (typeof effects !== 'object' || effects === null) throw refused('effects', 'must name an effect for each tool')
  for (const effect of Object.values(effects))
    if (!['read', 'idempotent', 'mutate'].includes(effect))
      throw refused('effects', 'must be read, idempotent or mutate for each tool')
  for (const [field, value] of Object.entries({ connectMs: connect, outputBytes, timeoutMs }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1 && value <= limits.deadlineMs))
      throw refused(field, 'must be a whole number of at least 1')
}

/** What reaches the server's process or address, and how its tools are offered. */
function checkPlaces({ url, env, headers, cwd, confirm, load }: McpProviderOptions): void {
  if (url !== undefined && (new URL(url).username !== '' || new URL(url).password !== ''))
    throw refused('url', 'must hold no user and no password; use headers')
  if (env !== undefined && !isTexts(env)) throw refused('env', 'must be texts by name')
  if (headers !== undefined && !isHeaders(headers))
    throw refused('headers', 'must be texts by name, as HTTP takes them')
  if (cwd !== undefined && (typeof cwd !== 'string' || cwd === '')) throw refused('cwd', 'must be a folder')
  if (confirm !== undefined && !['none', 'once', 'each'].includes(confirm))
    throw refused('confirm', 'must be none, once or each')
  if (load !== undefined && !['start', 'demand'].includes(load)) throw refused('load', 'must be start or demand')
}

function isTexts(values: unknown): boolean {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return false
  return Object.values(values).every((value) => typeof value === 'string' && !value.includes('\0'))
}

function isHeaders(headers: unknown): boolean {
  if (!isTexts(headers)) return false
  try {
    return new Headers(headers as Record<string, string>) !== undefined
  } catch {
    return false
  }
}

function isWords(words: readonly unknown[]): boolean {
  return (
    Array.isArray(words) && words.every((word) => typeof word === 'string' && !word.includes('\0')) && words[0] !== ''
  )
}

function refused(field: string, why: string): LandfallError {
  return new LandfallError('INVALID_INPUT', `The MCP server is refused: ${field} ${why}.`, { details: { field } })
}
