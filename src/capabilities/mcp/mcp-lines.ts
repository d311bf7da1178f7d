import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import { isLandfallError } from '../../facts/errors.ts'
import { defaultRedactor } from '../../redaction/default-redactor.ts'
import type { ProviderHooks } from '../capability-provider.ts'
import type { Sdk } from './load-sdk.ts'
import type { Lines } from './mcp-connection.ts'
import { refusalOf } from './server-refusals.ts'
import { type StdioServer, StdioTransport } from './stdio-transport.ts'
import { watchedFetch } from './watched-fetch.ts'

export interface HttpServer {
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/** A response that ended is given this long for its last message to be read. */
const lastMessageMs = 250
const farewellMs = 1_000
const tailChars = 500
const redactor = defaultRedactor()

/** A pipe that breaks may have carried the request before. */
export function stdioLines(server: StdioServer, hooks: ProviderHooks): Lines {
  const transport = new StdioTransport(server, hooks.limits.mcpMessageBytes)
  return {
    transport,
    neverLeft: () => false,
    errorTail: () => redactor.text(transport.errorTail).trim().slice(-tailChars),
  }
}

/**
 * The SDK's transport, and what it does not say: that the response to a request is over and had no answer in it. A response that
 * can be taken up again (its events have ids) is left to the SDK, until it gives up.
 */
export function httpLines(server: HttpServer, sdk: Sdk, hooks: ProviderHooks): Lines {
  const later = (ms: number, task: () => void) => void hooks.scheduler.at(hooks.clock.now() + ms, task)
  let over: (id: RequestId) => void = () => {}
  const transport = new sdk.StreamableHTTPClientTransport(server.url, {
    requestInit: { headers: { ...server.headers } },
    fetch: watchedFetch({
      messageBytes: hooks.limits.mcpMessageBytes,
      ended: (id) => later(lastMessageMs, () => over(id)),
      refusal: (response, url) => refusalOf(server.name, response, url),
    }),
  })
  return {
    transport: transport as Lines['transport'],
    neverLeft: (error) => wasNotTaken(error, sdk),
    statusOf: (error) => statusOf(error, sdk),
    onResponseOver: (listener) => {
      over = listener
    },
    farewell: () => Promise.race([transport.terminateSession(), new Promise<void>((done) => later(farewellMs, done))]),
  }
}

/** Codes of a connection that was never made. */
const unmade = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Statuses of the 400s by which a server, or what stands before it, gives up waiting: the work may have begun. */
const timeouts: ReadonlySet<number> = new Set([408, 499])

function statusOf(error: unknown, sdk: Sdk): number | undefined {
  return error instanceof sdk.StreamableHTTPError && (error.code ?? 0) >= 300 ? error.code : undefined
}

/** A server that sends us on, or refuses by another status of the 400s, has not looked at the request: an unknown session, a missing key. */
function wasNotTaken(error: unknown, sdk: Sdk): boolean {
  if (isLandfallError(error)) return true
  const status = statusOf(error, sdk)
  if (status !== undefined) return status < 500 && !timeouts.has(status)
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (unmade.has((at as { code?: string }).code ?? '')) return true
    if (at instanceof AggregateError)
      return at.errors.length > 0 && at.errors.every((each) => unmade.has((each as { code?: string }).code ?? ''))
  }
  return false
}
