import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { LandfallError } from '../facts/errors.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'
import type { Runtime } from '../runtime/open-runtime.ts'
import { Connections } from './connections.ts'
import { Gate } from './gate.ts'
import { isLoopback, localIdentity } from './local-identity.ts'
import { problemOf, problemResponse } from './problem.ts'
import { buildApp } from './server-app.ts'
import type { ServerOptions } from './server-options.ts'
import { WaitingResponses } from './waiting-responses.ts'

export interface ListenOptions {
  /** Default: the loopback. */
  readonly host?: string
  /** 0: any that is free. */
  readonly port?: number
}

export interface LandfallServer {
  readonly app: OpenAPIHono
  /** The address, once it listens. */
  listen(options?: ListenOptions): Promise<string>
  /**
   * Takes nothing new (503), waits for what is under way up to the grace, ends streams with a comment, and lets go of the address.
   * A client that does not read, or does not end what it began to send, is not waited for.
   * With `ownsRuntime` the runtime is closed in between: results are recorded and ownership is released.
   */
  close(): Promise<void>
}

export interface CreateServerOptions extends ServerOptions {
  readonly ownsRuntime?: boolean
}

/** How long a client may take to send a request. */
const requestMs = 30_000
/** How long a connection is kept for the next request; longer than clients keep theirs, so that none meets a closing one. */
const keptMs = 60_000

/** A Node server with the app. Who wants it in a server of their own takes `requestListener`. */
export function createServer(runtime: Runtime, options: CreateServerOptions = {}): LandfallServer {
  const gate = new Gate(runtime.ports.limits)
  const identity = options.identity ?? localIdentity()
  const app = buildApp(runtime, { ...options, identity }, { gate, pages: true })
  const { limits } = runtime.ports
  const listener = requestListener(app)
  const server = createHttpServer(
    {
      // Without a host there is an answer too, and not Node's own, which is no problem as others are.
      requireHostHeader: false,
      maxHeaderSize: limits.httpHeaderBytes,
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      keepAliveTimeout: keptMs,
    },
    listener,
  )
  const connections = new Connections(server)
  // What else a client may expect is passed over, as it may be.
  server.on('checkExpectation', listener)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, runtime))
  let closing: Promise<void> | null = null
  return {
    app,
    listen: ({ host = '127.0.0.1', port = 0 } = {}) => {
      if (identity.loopbackOnly && !isLoopback(host)) throw notLoopback()
      return listening(server, host, port)
    },
    close: () => {
      closing ??= closed({ server, connections, gate, runtime, ownsRuntime: options.ownsRuntime === true })
      return closing
    },
  }
}

/** For a Node server of a host: hands every request to the app and changes no global. */
export function requestListener(app: OpenAPIHono): ReturnType<typeof getRequestListener> {
  const waiting = new WaitingResponses()
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // Nothing of the request stands in the answer, so any redactor will do.
    errorHandler: (error) => problemResponse(error instanceof RequestError ? noRequest() : error, defaultRedactor()),
  })
  return async (incoming, outgoing) => {
    waiting.add(incoming, outgoing)
    await listener(incoming, outgoing)
  }
}

function listening(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(cannotListen(error, port))
    server.once('error', failed)
    server.listen(port, host, () => {
      server.off('error', failed)
      const { address, family, port: taken } = server.address() as AddressInfo
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`)
    })
  })
}

interface Closing {
  readonly server: Server
  readonly connections: Connections
  readonly gate: Gate
  readonly runtime: Runtime
  readonly ownsRuntime: boolean
}

/** It listens for as long as work is waited for, so that whoever comes is told why nothing is begun. */
async function closed({ server, connections, gate, runtime, ownsRuntime }: Closing): Promise<void> {
  const { clock, background, limits } = runtime.ports
  gate.shut()
  // A runtime that closes ends what is streamed of it, with its last events.
  if (ownsRuntime) await runtime.close()
  else gate.endStreams('the server is shutting down')
  gate.endHeld()
  const patience = new Promise<void>((resolve) => void background.at(clock.now() + limits.graceMs, resolve))
  await Promise.race([gate.emptied(), patience])
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  const stop = connections.closeAsTheyRest(runtime)
  await Promise.race([ended, patience])
  stop()
  server.closeAllConnections()
  await ended
}

/** What is no request at all is answered before any app sees it. */
function refuse(error: NodeJS.ErrnoException, socket: Socket, { ports }: Runtime): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const problem = problemOf(
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new LandfallError('LIMIT_EXCEEDED', 'The headers are larger than their bound. Send fewer.', {
          details: { which: 'httpHeaderBytes', bound: ports.limits.httpHeaderBytes },
        })
      : noRequest(),
    ports.redactor,
  )
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Also for what is HTTP, but names no address that a request could be for. */
function noRequest(): LandfallError {
  return new LandfallError('INVALID_INPUT', 'This is no HTTP request, or it did not come in time.')
}

function notLoopback(): LandfallError {
  return new LandfallError(
    'INVALID_INPUT',
    'Without a key the server binds to the loopback only. Give it keys to check tokens with, or leave the host out.',
    { details: { field: 'host' } },
  )
}

function cannotListen(error: NodeJS.ErrnoException, port: number): LandfallError {
  const message =
    error.code === 'EADDRINUSE'
      ? 'Another program listens on this port. Choose another one.'
      : 'The server cannot listen there. Choose another host or port.'
  return new LandfallError('ADDRESS_UNAVAILABLE', message, { details: { port, code: error.code } })
}
