import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { errorCode, LandfallError } from '../facts/errors.ts'
import { checkedIdentifier } from '../runtime/checked-scope.ts'
import type { Runtime } from '../runtime/open-runtime.ts'
import { frontPage } from './front-page.ts'
import { Gate } from './gate.ts'
import type { Credentials, Identify, Identity } from './identity.ts'
import { localIdentity } from './local-identity.ts'
import { openapiDocument } from './openapi-document.ts'
import { problemResponse } from './problem.ts'
import { readJson } from './request-body.ts'
import { json, type Route, type ServerParts } from './route.ts'
import { routes } from './routes.ts'
import type { ServerOptions, SiteFile } from './server-options.ts'
import { WriteTurns } from './write-turns.ts'

/** The whole of the protocol as one Hono app, for `route()` of a host's own app. The runtime stays the host's. */
export function serverApp(runtime: Runtime, options: ServerOptions = {}): OpenAPIHono {
  // Without files of its own it leaves every other path to the host.
  return buildApp(runtime, options, { gate: new Gate(runtime.ports.limits), pages: options.site !== undefined })
}

export function buildApp(
  runtime: Runtime,
  options: ServerOptions,
  { gate, pages }: { readonly gate: Gate; readonly pages: boolean },
): OpenAPIHono {
  const app = new OpenAPIHono()
  const serving = new Serving({ runtime, gate, turns: new WriteTurns(runtime.ports.scheduler) }, options)
  for (const route of routes) app.on(route.method, honoPath(route.path), (c) => serving.route(c, route))
  app.get('/healthz', (c) => serving.open(c, '/healthz', async () => json({ ok: true }, 200)))
  let document: object | null = null
  app.get('/openapi.json', (c) =>
    serving.open(c, '/openapi.json', async () => {
      document ??= openapiDocument(routes, options.version ?? '0.0.0')
      return json(document, 200)
    }),
  )
  app.get('/v1/machines', (c) => serving.open(c, '/v1/machines', async () => json(chartsOf(options), 200)))
  app.get('/metrics', (c) => serving.identified(c, '/metrics', () => metricsOf(options)))
  if (pages) app.get('*', (c) => serving.open(c, '*', () => siteOf(c, options)))
  app.notFound((c) => serving.open(c, 'none', async () => Promise.reject(noRoute())))
  app.onError((error) => problemResponse(error, runtime.ports.redactor))
  return app
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** What happens around every request: bounds, identity, errors as problems, and a word to whoever keeps a record. */
class Serving {
  readonly #parts: ServerParts
  readonly #identify: Identify
  readonly #options: ServerOptions

  constructor(parts: ServerParts, options: ServerOptions) {
    this.#parts = parts
    this.#options = options
    this.#identify = options.identity ?? localIdentity()
  }

  route(c: Context, route: Route): Promise<Response> {
    return this.#answer(c, route.path, async () => {
      const { raw: request } = c.req
      const url = new URL(request.url)
      const identity = this.#nameable(await this.#identify(credentialsOf(c, url)))
      const { runtime, gate } = this.#parts
      const body = () => gate.arrived(readJson(request, runtime.ports.limits, route.bounds))
      return route.run({ request, url, path: c.req.param(), identity, parts: this.#parts, body })
    })
  }

  /** Who asks stands in records of every kind, whatever it is that they ask for. */
  #nameable(identity: Identity): Identity {
    const { redactor } = this.#parts.runtime.ports
    checkedIdentifier(redactor, 'tenant', identity.tenant)
    checkedIdentifier(redactor, 'user', identity.user)
    return identity
  }

  /** For whom it is does not matter, but who it is does. */
  identified(c: Context, route: string, work: () => Promise<Response>): Promise<Response> {
    return this.#answer(c, route, async () => {
      await this.#identify(credentialsOf(c, new URL(c.req.url)))
      return work()
    })
  }

  /** Says nothing about anybody, so anybody may ask. */
  open(c: Context, route: string, work: () => Promise<Response>): Promise<Response> {
    return this.#answer(c, route, work)
  }

  async #answer(c: Context, route: string, work: () => Promise<Response>): Promise<Response> {
    const { clock, limits, redactor, logger } = this.#parts.runtime.ports
    const begun = clock.now()
    let response: Response
    try {
      refuseLongHeaders(c.req.raw.headers, limits.httpHeaderBytes)
      response = await this.#parts.gate.through(work)
    } catch (error) {
      if (errorCode(error) === 'INTERNAL') logger.error({ route }, 'a request met a fault')
      response = problemResponse(error, redactor)
    }
    const durationMs = clock.now() - begun
    this.#options.onRequest?.({ method: c.req.method, route, status: response.status, durationMs })
    return response
  }
}

function credentialsOf(c: Context, url: URL): Credentials {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } }
  return { headers: c.req.raw.headers, url, remote: incoming?.socket?.remoteAddress ?? null }
}

function refuseLongHeaders(headers: Headers, bound: number): void {
  let got = 0
  for (const [name, value] of headers) got += name.length + value.length + 4
  if (got <= bound) return
  throw new LandfallError('LIMIT_EXCEEDED', 'The headers are larger than their bound. Send fewer.', {
    details: { which: 'httpHeaderBytes', bound, got },
  })
}

function chartsOf({ machines }: ServerOptions): object {
  if (machines === undefined) throw noRoute()
  return { items: Object.entries(machines()).map(([name, definition]) => ({ name, definition })) }
}

async function metricsOf({ metrics }: ServerOptions): Promise<Response> {
  if (metrics === undefined) throw noRoute()
  return new Response(await metrics(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } })
}

async function siteOf(c: Context, { site }: ServerOptions): Promise<Response> {
  const { pathname, origin } = new URL(c.req.url)
  const found = site === undefined ? plainPage(pathname, origin) : await site(pathname)
  if (found === null) throw noRoute()
  const policy = found.policy === undefined ? {} : { 'content-security-policy': found.policy }
  return new Response(found.body, { headers: { ...safeHeaders, ...policy, 'content-type': found.contentType } })
}

/** A page from here runs only what came from here, and stands in no frame of another. */
const safeHeaders = {
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

function plainPage(pathname: string, origin: string): SiteFile | null {
  return pathname === '/' ? { contentType: 'text/html; charset=utf-8', body: frontPage(origin) } : null
}

function noRoute(): LandfallError {
  return new LandfallError('NOT_FOUND', 'There is no such route. All of them are described in /openapi.json.')
}
