import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult, Progress as ProgressNote, RequestId, Tool } from '@modelcontextprotocol/sdk/types.js'
import { isLandfallError, LandfallError, OutcomeUnknownError } from '../../facts/errors.ts'
import type { Limits } from '../../facts/limits.ts'
import type { Sdk } from './load-sdk.ts'
import { type ResultOf, readResult, toolError, unusable } from './mcp-result.ts'
import { lostBy, unavailable } from './server-refusals.ts'
import { TrackedTransport } from './tracked-transport.ts'

/** The runtime has deadlines of its own; the SDK's timer must not come before them. */
const noTimeoutMs = 2 ** 31 - 1
const pagesMax = 100

/** The request never reached the server, so another connection may carry it. */
export class NeverSent extends Error {
  readonly status: number | undefined

  constructor(status?: number) {
    super('The request was not taken.')
    this.status = status
  }
}

export interface Lines {
  readonly transport: Transport
  readonly neverLeft: (error: unknown) => boolean
  /** The status that a request was answered with instead of an answer of the protocol. */
  readonly statusOf?: (error: unknown) => number | undefined
  /** What the server wrote to its standard error last, without secrets. */
  readonly errorTail?: () => string
  /** Who is to hear that the response to a request is over, where requests have responses of their own. */
  readonly onResponseOver?: (listener: (id: RequestId) => void) => void
  /** Ends what a connection leaves at the server, such as its session there. */
  readonly farewell?: () => Promise<void>
}

export interface CallOf extends ResultOf {
  readonly server: string
  readonly name: string
  readonly args: unknown
  readonly signal: AbortSignal
  readonly idempotencyKey: string
  readonly progress: (note: string) => void
}

/**
 * Owns: one connection to a server, from its handshake to its end.
 * 1. A call that was sent ends with the server's answer, or with `OutcomeUnknownError` when the connection is lost under it.
 * 2. An abort is passed on and is no answer: the protocol has none, so a call that may change something goes on waiting for one.
 */
export class McpConnection {
  alive = true
  readonly #client: Client
  readonly #tracked: TrackedTransport
  readonly #lines: Lines
  readonly #limits: Limits
  readonly #sdk: Sdk

  private constructor(client: Client, tracked: TrackedTransport, lines: Lines, of: { limits: Limits; sdk: Sdk }) {
    this.#client = client
    this.#tracked = tracked
    this.#lines = lines
    this.#limits = of.limits
    this.#sdk = of.sdk
  }

  static async open(
    lines: Lines,
    of: { limits: Limits; sdk: Sdk; connectMs: number; listChanged: () => void },
  ): Promise<McpConnection> {
    const client = new of.sdk.Client({ name: 'landfall', version: '1' }, { capabilities: {} })
    const tracked = new TrackedTransport(lines.transport, lines.neverLeft)
    lines.onResponseOver?.((id) => tracked.responseOver(id))
    const connection = new McpConnection(client, tracked, lines, of)
    client.onclose = () => {
      connection.alive = false
    }
    // What goes wrong with one message is no reason to end the host.
    client.onerror = () => {}
    client.setNotificationHandler(of.sdk.types.ToolListChangedNotificationSchema, () => of.listChanged())
    await client.connect(tracked, { timeout: of.connectMs })
    return connection
  }

  async tools(timeout: number): Promise<readonly Tool[]> {
    const tools: Tool[] = []
    let cursor: string | undefined
    for (let page = 0; page < pagesMax; page += 1) {
      const params = cursor === undefined ? {} : { cursor }
      const schema = this.#sdk.types.ListToolsResultSchema
      const listed = await this.#client.request({ method: 'tools/list', params }, schema, { timeout })
      tools.push(...listed.tools)
      cursor = listed.nextCursor
      if (cursor === undefined) return tools
    }
    throw new LandfallError('MCP_UNAVAILABLE', 'The server lists its tools without end.', { retryable: true })
  }

  async call(of: CallOf): Promise<unknown> {
    const { id, begun } = this.#tracked.follow(() => this.#send(of))
    // Whoever aborts is not kept by a read; what comes of it then is nobody's business.
    begun.catch(() => {})
    const abort = this.#onAbort(of, () => {
      if (id !== null && this.#tracked.progressOf(id) === 'sent') this.#tracked.cancel(id, 'The call is told to stop.')
    })
    try {
      // Nothing is changed by giving a read up: whoever aborts it is not kept waiting for an answer.
      const result = await (of.effect === 'read' ? Promise.race([begun, abort.gaveUp]) : begun)
      return readResult(result, of)
    } catch (error) {
      if (error === gaveUp) throw new Error('The call was given up; what the server does with it is not known.')
      const progress = this.#tracked.progressOf(id)
      if (progress === 'answered') return this.#failure(error, of)
      const status = this.#lines.statusOf?.(error)
      if (progress === 'unsent') throw isLandfallError(error) ? error : new NeverSent(status)
      // A server that answers, though with an error, is there: asking it for the same at once would not help.
      if (status !== undefined && of.effect === 'read') throw unavailable(of.server, { status })
      throw new OutcomeUnknownError(lostBy(of.server, status))
    } finally {
      abort.forget()
      this.#tracked.forget(id)
    }
  }

  /** The server has answered: that the tool failed, or what is no result. */
  #failure(error: unknown, of: CallOf): unknown {
    if (isLandfallError(error)) throw error
    if (error instanceof this.#sdk.types.McpError) throw toolError(error.message, of)
    return unusable(of, 'OUTPUT_INVALID', 'is no result of a tool.')
  }

  /** The server is gone, though the transport cannot tell. */
  give(): void {
    this.alive = false
    void this.close()
  }

  async close(): Promise<void> {
    this.alive = false
    await this.#lines.farewell?.().catch(() => {})
    await this.#client.close().catch(() => {})
    await this.#lines.transport.close().catch(() => {})
  }

  #send({ name, args, idempotencyKey, progress }: CallOf): Promise<CallToolResult> {
    const params = { name, arguments: args as Record<string, unknown>, _meta: { 'landfall/key': idempotencyKey } }
    return this.#client.request({ method: 'tools/call', params }, this.#sdk.types.CallToolResultSchema, {
      timeout: noTimeoutMs,
      onprogress: (note) => progress(noteOf(note, this.#limits.freeTextChars)),
    })
  }

  #onAbort({ signal }: CallOf, tell: () => void): { readonly gaveUp: Promise<never>; readonly forget: () => void } {
    let giveUp: () => void = () => {}
    const given = new Promise<never>((_resolve, reject) => {
      giveUp = () => reject(gaveUp)
    })
    given.catch(() => {})
    const onAbort = () => {
      tell()
      giveUp()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    return { gaveUp: given, forget: () => signal.removeEventListener('abort', onAbort) }
  }
}

const gaveUp = new Error('given up')

function noteOf({ progress, total, message }: ProgressNote, chars: number): string {
  const count = total === undefined ? `${progress}` : `${progress} of ${total}`
  return (message === undefined ? count : `${count}: ${message}`).slice(0, chars)
}
