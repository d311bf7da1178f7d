import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { onTestFinished } from 'vitest'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

export type Reply = (response: ServerResponse, received: Received) => void | Promise<void>

/**
 * Owns a real HTTP server on the loopback that answers as a provider would, or worse.
 * 1. Every request is kept as it came; replies are used in order, and the last one again and again.
 * 2. It ends with the test, whatever hangs on it.
 */
export class ProviderServer {
  readonly received: Received[] = []
  readonly closed: Received[] = []
  url = ''
  readonly #replies: Reply[]

  constructor(replies: readonly Reply[]) {
    this.#replies = [...replies]
  }

  async listen(): Promise<this> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString('utf8') || '{}') as Received['body']
        const received = { path: request.url ?? '', headers: request.headers, body }
        this.received.push(received)
        response.on('close', () => {
          if (!response.writableFinished) this.closed.push(received)
        })
        const reply = this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0]
        void reply?.(response, received)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    return this
  }
}

export async function serving(...replies: readonly Reply[]): Promise<ProviderServer> {
  return new ProviderServer(replies).listen()
}

const headers = { 'content-type': 'text/event-stream' }

/** The whole stream at once. */
export function streamed(body: string): Reply {
  return (response) => void response.writeHead(200, headers).end(body)
}

/** The stream in writes of so many bytes, also in the middle of a character. */
export function inPieces(body: string, size: number): Reply {
  return async (response) => {
    response.writeHead(200, headers)
    const bytes = Buffer.from(body)
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    response.end()
  }
}

/** Part of the stream, and then the connection is gone, or the stream simply ends. */
export function cutAfter(body: string, share: number, how: 'reset' | 'end'): Reply {
  return async (response) => {
    response.writeHead(200, headers)
    const part = body.slice(0, Math.floor(body.length * share))
    await new Promise<void>((resolve) => void response.write(part || ': begun\n\n', () => resolve()))
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (how === 'reset') response.destroy()
    else response.end()
  }
}

/** The beginning of the stream, and then nothing more, for ever. */
export function hangingAfter(body: string, share: number): Reply {
  return (response) => {
    response.writeHead(200, headers)
    response.write(body.slice(0, Math.floor(body.length * share)) || ': begun\n\n')
  }
}

/** The beginning of the stream, and then a piece of it again and again, as fast as it is read, for ever. */
export function repeating(begun: string, piece: string): Reply {
  function* pieces() {
    yield begun
    for (;;) yield piece
  }
  return async (response) => {
    response.writeHead(200, headers)
    // It ends when nobody reads on.
    await pipeline(Readable.from(pieces()), response).catch(() => {})
  }
}

export function refusing(status: number, more: Readonly<Record<string, string>> = {}, body = '{"error":{}}'): Reply {
  return (response) => void response.writeHead(status, { 'content-type': 'application/json', ...more }).end(body)
}
