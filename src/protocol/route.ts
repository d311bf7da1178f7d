import { z } from 'zod'
import { LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import type { Runtime } from '../runtime/open-runtime.ts'
import type { Session } from '../runtime/session.ts'
import type { Gate } from './gate.ts'
import { type ElevatedScope, type Identity, requireElevated, scopeFor } from './identity.ts'
import type { BodyBounds } from './request-body.ts'
import type { WriteTurns } from './write-turns.ts'

/** What every route of one server works with. */
export interface ServerParts {
  readonly runtime: Runtime
  readonly gate: Gate
  readonly turns: WriteTurns
}

/** One request on its way to its route: who asks and what for, not yet checked against the route's schemas. */
export interface Asked {
  readonly request: Request
  readonly url: URL
  readonly path: { readonly [name: string]: string }
  readonly identity: Identity
  readonly parts: ServerParts
  readonly body: () => Promise<unknown>
}

/** What a handler is given: everything checked. */
export interface Call<Q, B> extends ServerParts {
  readonly request: Request
  readonly path: { readonly [name: string]: string }
  readonly query: Q
  readonly body: B
  readonly identity: Identity
}

/** The session of the path too, in the scope of whoever asks. */
export interface SessionCall<Q, B> extends Call<Q, B> {
  readonly session: Session
  readonly scope: Scope
}

export interface RouteAnswer {
  readonly status: 200 | 201
  readonly description: string
  /** A schema, a list of it, or another kind of content. */
  readonly schema?: z.ZodType
  readonly contentType?: string
}

interface RouteText {
  readonly method: 'get' | 'post' | 'delete'
  /** Parameters in braces, as OpenAPI writes them. */
  readonly path: string
  readonly summary: string
  readonly elevated?: ElevatedScope
  /** Names of request headers that mean something here. */
  readonly headers?: readonly string[]
  /** Absent: those of a command. */
  readonly bounds?: BodyBounds
  readonly answer: RouteAnswer
}

interface RouteDefinition<Q extends z.ZodType, B extends z.ZodType, C> extends RouteText {
  readonly query?: Q
  readonly body?: B
  /** A value is answered as JSON with the status of the route. */
  readonly handle: (call: C) => Promise<unknown>
}

/** A route whose handler is bound to its schemas, so that a list of them needs no types. */
export interface Route extends RouteText {
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly run: (asked: Asked) => Promise<Response>
}

type Nothing = z.ZodObject<Record<never, z.ZodType>>

const nothing: Nothing = z.object({})

export function route<Q extends z.ZodType = Nothing, B extends z.ZodType = Nothing>(
  definition: RouteDefinition<Q, B, Call<z.infer<Q>, z.infer<B>>>,
): Route {
  const { handle, ...text } = definition
  return { ...text, run: async (asked) => answered(text, await handle(await callOf<Q, B>(text, asked))) }
}

/** A route below `/v1/sessions/{session}`. */
export function sessionRoute<Q extends z.ZodType = Nothing, B extends z.ZodType = Nothing>(
  definition: RouteDefinition<Q, B, SessionCall<z.infer<Q>, z.infer<B>>>,
): Route {
  const { handle, ...text } = definition
  return {
    ...text,
    run: async (asked) => {
      const scope = scopeFor(asked.identity, asked.path.session ?? '')
      const session = asked.parts.runtime.session(scope)
      return answered(text, await handle({ ...(await callOf<Q, B>(text, asked)), scope, session }))
    },
  }
}

async function callOf<Q extends z.ZodType, B extends z.ZodType>(
  text: RouteText & { readonly query?: Q; readonly body?: B },
  { identity, parts, path, request, url, body }: Asked,
): Promise<Call<z.infer<Q>, z.infer<B>>> {
  if (text.elevated !== undefined) requireElevated(identity, text.elevated)
  return {
    ...parts,
    request,
    path,
    identity,
    query: checked('query', text.query ?? nothing, queryOf(url)) as z.infer<Q>,
    body: (text.body === undefined ? {} : checked('body', text.body, await body())) as z.infer<B>,
  }
}

function answered({ answer }: RouteText, result: unknown): Response {
  return result instanceof Response ? result : json(result, answer.status)
}

export function json(value: unknown, status: number): Response {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }
  return new Response(JSON.stringify(value ?? null), { status, headers })
}

/** A parameter that is given more than once is a list. */
function queryOf({ searchParams }: URL): Record<string, string | string[]> {
  const names = [...new Set(searchParams.keys())]
  return Object.fromEntries(
    names.map((name) => {
      const values = searchParams.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

/** Names the place by its names in our schema alone: what stood there, and names that somebody made up, are not repeated. */
function checked(where: string, schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const first = result.error.issues[0]?.path[0]
  const field = typeof first === 'string' && fieldNames(schema).includes(first) ? `${where}.${first}` : where
  throw new LandfallError('INVALID_INPUT', `The request is malformed at '${field}'. Correct it.`, {
    details: { field },
  })
}

function fieldNames(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape)
  return schema instanceof z.ZodUnion ? schema.options.flatMap(fieldNames) : []
}
