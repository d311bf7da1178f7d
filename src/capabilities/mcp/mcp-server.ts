import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Effect } from '../../../machines/vocabulary.ts'
import { canonicalJson } from '../../facts/digest.ts'
import { isLandfallError, LandfallError } from '../../facts/errors.ts'
import type { ProviderHooks } from '../capability-provider.ts'
import type { ToolContext, ToolDefinition } from '../define-tool.ts'
import type { Sdk } from './load-sdk.ts'
import { type Lines, McpConnection, NeverSent } from './mcp-connection.ts'
import { offerOf, type ToolRules } from './mcp-tools.ts'
import { PacedWork } from './paced-work.ts'
import { unavailable } from './server-refusals.ts'

export interface ServerOptions {
  readonly name: string
  readonly rules: ToolRules
  readonly connectMs: number
  readonly outputBytes: number
  readonly sdk: Sdk
  /** Lines to the server, new ones for each connection. */
  readonly lines: () => Lines
}

/** Waits between the tries of one connection: a server that was lost may be on its way back. */
const retryWaitsMs = [0, 200, 1_000]

/**
 * Owns: one server as one runtime has bound it, over all connections to it.
 * 1. There is at most one connection; it is made anew when a call needs one and the last one is lost.
 * 2. The offer has a binding, counted up whenever the server offers something else; a call of an older binding is not sent.
 * 3. Its tools are listed again when it says that they changed, and no faster than `PacedWork` allows.
 * 4. A call is sent again only where it is certain that it never left. Everything else is the runtime's to try again.
 */
export class McpServer {
  readonly #options: ServerOptions
  readonly #hooks: ProviderHooks
  #connection: Promise<McpConnection> | null = null
  #offered = ''
  #binding = 0
  #tools: readonly ToolDefinition[] = []
  readonly #listings: PacedWork
  #closed = false

  constructor(options: ServerOptions, hooks: ProviderHooks) {
    this.#options = options
    this.#hooks = hooks
    this.#listings = new PacedWork(() => this.#listAgain(), hooks)
  }

  async bind(): Promise<readonly ToolDefinition[]> {
    await this.#connected()
    return this.#tools
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#listings.stop()
    const connection = await this.#connection?.catch(() => null)
    await connection?.close()
  }

  async #run(of: { tool: string; binding: number; effect: Effect }, args: unknown, context: ToolContext) {
    const call = {
      server: this.#options.name,
      name: of.tool,
      args,
      signal: context.signal,
      effect: of.effect,
      outputBytes: this.#options.outputBytes,
      idempotencyKey: context.idempotencyKey,
      progress: (note: string) => context.progress(note),
    }
    for (let again = false; ; again = true) {
      const connection = await orAborted(this.#connected(), context.signal)
      // A server that has said that its tools change is asked for them first.
      await orAborted(this.#listings.done(), context.signal)
      if (of.binding !== this.#binding) throw stale()
      try {
        return await connection.call(call)
      } catch (error) {
        if (!(error instanceof NeverSent)) throw error
        connection.give()
        if (again) throw unavailable(this.#options.name, { status: error.status })
      }
    }
  }

  /** The connection that lives, or a new one, whose tools have been compared with what is offered. */
  async #connected(): Promise<McpConnection> {
    for (;;) {
      const last = this.#connection
      const connection = await last?.catch(() => null)
      if (connection?.alive === true) return connection
      if (this.#closed) throw unavailable(this.#options.name)
      // Several calls may have found the last one lost; the first of them makes the next.
      if (this.#connection !== last) continue
      this.#connection = this.#connect()
      return this.#connection
    }
  }

  async #connect(): Promise<McpConnection> {
    let failed: unknown = null
    for (const wait of retryWaitsMs) {
      if (wait > 0) await this.#later(wait)
      if (this.#closed) break
      const lines = this.#options.lines()
      try {
        return await this.#open(lines)
      } catch (error) {
        await lines.transport.close().catch(() => {})
        // It was reached, and said what is wrong: asking again at once would not change that.
        if (isLandfallError(error)) throw error
        failed = unavailable(this.#options.name, { status: lines.statusOf?.(error), stderr: lines.errorTail?.() })
      }
    }
    throw failed ?? unavailable(this.#options.name)
  }

  async #open(lines: Lines): Promise<McpConnection> {
    const { connectMs, sdk } = this.#options
    const { limits } = this.#hooks
    const listChanged = () => this.#listings.notice()
    const opened = await McpConnection.open(lines, { limits, sdk, connectMs, listChanged })
    this.#take(await opened.tools(connectMs))
    return opened
  }

  /** What was listed last is what the server offers now. */
  async #listAgain(): Promise<void> {
    const connection = await this.#connection?.catch(() => null)
    if (connection?.alive !== true || this.#closed) return
    try {
      this.#take(await connection.tools(this.#options.connectMs))
    } catch {
      this.#hooks.logger.warn(
        { server: this.#options.name },
        'a server that said that its tools changed did not list them',
      )
    }
  }

  #take(tools: readonly Tool[]): void {
    const { name, rules, sdk } = this.#options
    const offered = canonicalJson(JSON.parse(JSON.stringify(tools)))
    if (offered === this.#offered) return
    this.#offered = offered
    this.#binding += 1
    const binding = this.#binding
    const { tools: made, leftOut } = offerOf(tools, {
      server: name,
      provider: `mcp:${name}`,
      binding,
      rules,
      limits: this.#hooks.limits,
      sdk,
      run: (tool, args, effect, context) => this.#run({ tool, binding, effect }, args, context),
    })
    for (const { tool, why } of leftOut) this.#hooks.logger.warn({ server: name, tool, why }, 'a tool is left out')
    this.#tools = made
    if (binding > 1) this.#hooks.changed(made)
  }

  #later(ms: number): Promise<void> {
    const { clock, scheduler } = this.#hooks
    return new Promise((resolve) => void scheduler.at(clock.now() + ms, resolve))
  }
}

/** Nothing was sent yet, so an abort is acknowledged at once. */
function orAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function stale(): LandfallError {
  const message = 'The server offers another contract now than the call was made for. Nothing was sent.'
  return new LandfallError('STALE_CAPABILITY', message)
}
