import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js'

/** How far a request has come: not out of the door, perhaps out of it, or answered. */
export type Progress = 'unsent' | 'sent' | 'answered'

/** What a lost request is answered with, so that who waits for it hears of it. */
const lostCode = -32_000

/** What the transport says when it takes up no response any more. */
const gaveUpResuming = /^Maximum reconnection attempts/

/**
 * Owns: what is known of each request on a connection, for when the connection is lost under it.
 * 1. A request counts as sent from the moment it is given to the transport, unless the transport knows that it never left.
 * 2. A response that ends without an answer loses its request, unless the server lets it be taken up again; then when the
 *    transport has given that up.
 * 3. A request that is lost is answered once, here; what the server says of it later is dropped by who waits for nothing more.
 */
export class TrackedTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void
  setProtocolVersion?: (version: string) => void
  readonly #inner: Transport
  readonly #neverLeft: (error: unknown) => boolean
  readonly #progress = new Map<RequestId, Progress>()
  readonly #resumable = new Set<RequestId>()
  readonly #over = new Set<RequestId>()
  #last: RequestId | null = null

  constructor(inner: Transport, neverLeft: (error: unknown) => boolean) {
    this.#inner = inner
    this.#neverLeft = neverLeft
    this.setProtocolVersion = (version) => inner.setProtocolVersion?.(version)
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      if (!('method' in message) && 'id' in message && message.id !== undefined) this.#answered(message.id)
      this.onmessage?.(message, extra)
    }
    this.#inner.onclose = () => this.onclose?.()
    this.#inner.onerror = (error) => {
      if (gaveUpResuming.test(error.message)) for (const id of this.#over) this.#lose(id)
      this.onerror?.(error)
    }
    await this.#inner.start()
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : null
    if (id !== null) {
      this.#last = id
      this.#progress.set(id, 'sent')
    }
    try {
      const watched = id === null ? options : { ...options, onresumptiontoken: () => void this.#resumable.add(id) }
      await this.#inner.send(message, watched)
    } catch (error) {
      if (id !== null && this.#neverLeft(error)) this.#progress.set(id, 'unsent')
      throw error
    }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** The id of the request that `begin` sends; it must send it at once. */
  follow<T>(begin: () => T): { readonly id: RequestId | null; readonly begun: T } {
    this.#last = null
    const begun = begin()
    return { id: this.#last, begun }
  }

  progressOf(id: RequestId | null): Progress {
    return id === null ? 'unsent' : (this.#progress.get(id) ?? 'unsent')
  }

  forget(id: RequestId | null): void {
    if (id === null) return
    this.#progress.delete(id)
    this.#resumable.delete(id)
    this.#over.delete(id)
  }

  /** Tells the server that nobody waits for it any more. */
  cancel(requestId: RequestId, reason: string): void {
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } } as const
    this.#inner.send(message).catch(() => {})
  }

  /** The response to a request is over; if its answer was in it, that has been heard. */
  responseOver(id: RequestId): void {
    this.#over.add(id)
    if (!this.#resumable.has(id)) this.#lose(id)
  }

  /** The answer of a request will not come: the connection that it was to come on is gone. */
  #lose(id: RequestId): void {
    if (this.#progress.get(id) !== 'sent') return
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: lostCode, message: 'The connection was lost.' } })
  }

  #answered(id: RequestId): void {
    if (this.#progress.has(id)) this.#progress.set(id, 'answered')
  }
}
