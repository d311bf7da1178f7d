import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import type { Random } from '../facts/ports.ts'
import { systemRandom } from '../facts/system-ports.ts'
import { chartPage, type PageDocument } from './chart-page.ts'
import type { SimulateAnswer, SimulateRequest } from './page-data.ts'
import { problemAnswer, simulationAnswer } from './simulation-answer.ts'
import type { ShownChart } from './simulator/own-charts.ts'
import type { SimulatedEvent } from './simulator/play-event.ts'

export interface ChartServer {
  /** Holds the key, without which the server answers nothing. */
  readonly address: string
  close(): Promise<void>
}

/**
 * Serves the chart page on the loopback interface, with the simulations that it asks for.
 * 1. It answers under a path that nobody can guess, to requests that name this very host: other pages that the same browser
 *    shows cannot reach it, not even by a name of their own that leads here.
 * 2. It holds nothing between two requests. A simulation executes no action; it asks guards and assignments of the chart, which are pure functions.
 */
export async function serveCharts(
  charts: readonly ShownChart[],
  options: { readonly random?: Random; readonly port?: number } = {},
): Promise<ChartServer> {
  const page = await chartPage(charts)
  const key = Buffer.from((options.random ?? systemRandom).bytes(16)).toString('hex')
  const server = createServer((request, response) => {
    void answer({ page, charts, key }, request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}/${key}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Served {
  readonly page: PageDocument
  readonly charts: readonly ShownChart[]
  readonly key: string
}

async function answer(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { page, key } = served
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('cache-control', 'no-store')
  const wanted = `${request.method} ${request.url}`
  if (!isOwnHost(request) || ![`GET /${key}/`, `POST /${key}/simulate`].includes(wanted)) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found.\n')
    return
  }
  if (request.method === 'GET') {
    response.setHeader('content-security-policy', page.policy)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page.html)
    return
  }
  const { status, body } = await simulated(served.charts, request)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A name of somebody else's that resolves to this machine is not this host. */
function isOwnHost({ headers, socket }: IncomingMessage): boolean {
  const own = [`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`]
  const { host = '', origin } = headers
  return own.includes(host) && (origin === undefined || own.includes(origin.replace(/^http:\/\//, '')))
}

async function simulated(
  charts: readonly ShownChart[],
  request: IncomingMessage,
): Promise<{ readonly status: number; readonly body: SimulateAnswer }> {
  try {
    const { chart: name, input, events } = requestOf(await bodyOf(request))
    const chart = charts.find((each) => each.name === name)
    if (chart === undefined) throw new LandfallError('NOT_FOUND', 'No such chart here.', { details: { chart: name } })
    const body = simulationAnswer(chart, { events, input: input ?? undefined })
    return { status: 'simulation' in body ? 200 : 422, body }
  } catch (error) {
    return { status: 422, body: problemAnswer(error) }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > limits.httpBodyBytes)
      throw new LandfallError('LIMIT_EXCEEDED', 'The simulation is too large. Begin anew.', {
        details: { which: 'httpBodyBytes', bound: limits.httpBodyBytes },
      })
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function requestOf(text: string): Omit<SimulateRequest, 'events'> & { readonly events: readonly SimulatedEvent[] } {
  const malformed = () =>
    new LandfallError('INVALID_INPUT', 'A simulation is asked for with a chart and a list of events.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed()
  }
  if (typeof value !== 'object' || value === null) throw malformed()
  const { chart, input, events } = value as { chart?: unknown; input?: unknown; events?: unknown }
  if (typeof chart !== 'string' || !Array.isArray(events) || !events.every(isEvent)) throw malformed()
  return { chart, input, events }
}

function isEvent(value: unknown): value is SimulatedEvent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
