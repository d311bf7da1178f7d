import { z } from 'zod'
import type { EventStream } from '../../bus/event-stream.ts'
import type { EventsOptions } from '../../bus/interest.ts'
import { scopeKey } from '../../facts/scope.ts'
import { bucket, listOf } from '../answer-schemas.ts'
import { type ElevatedScope, requireElevated } from '../identity.ts'
import { type Call, type Route, route, sessionRoute } from '../route.ts'
import { positionFrame } from '../sse-frame.ts'
import { SseStream } from '../sse-stream.ts'

/** Names, or several joined by commas. None at all would be a stream on which nothing ever comes. */
const someNames = z.string().regex(/[^,]/)
const names = z.union([someNames, z.array(someNames)])
const flag = z.enum(['true', 'false'])
/** Seconds, or with a unit: 500ms, 30s, 5m, 1h, 7d. */
const duration = z.string().regex(/^\d{1,9}(\.\d{1,3})?(ms|s|m|h|d)?$/)
const unitMs: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const eventsQuery = z.object({
  after: z.string().optional(),
  type: names.optional(),
  task: z.string().optional(),
  ephemeral: flag.optional(),
})
const wideQuery = eventsQuery.extend({
  view: z.enum(['user', 'tenant', 'fleet']).optional(),
})
const stream = {
  status: 200,
  description: 'Events as they come: id is the position, event the type, data the event as JSON',
  contentType: 'text/event-stream',
} as const

type EventsQuery = z.infer<typeof eventsQuery>
type EventsCall = Call<EventsQuery, unknown>

export const eventRoutes: readonly Route[] = [
  sessionRoute({
    method: 'get',
    path: '/v1/sessions/{session}/events',
    summary: 'Events of a session: those after a position, then live; after=now for what is to come',
    query: eventsQuery,
    headers: ['Last-Event-ID'],
    answer: stream,
    handle: async (call) =>
      streamed(call, scopeKey(call.scope), async (options) => call.runtime.events(call.scope, options)),
  }),
  route({
    method: 'get',
    path: '/v1/events',
    summary: 'Events of many sessions: of the user, the tenant or the fleet. Each use is on record',
    query: wideQuery,
    headers: ['Last-Event-ID'],
    answer: stream,
    handle: async (call) => {
      const { tenant, user } = call.identity
      const { view = 'user' } = call.query
      const needed: ElevatedScope = `elevated:${view}`
      requireElevated(call.identity, needed)
      const filter = { user: { tenant, user }, tenant: { tenant }, fleet: {} }[view]
      return streamed(call, JSON.stringify(filter), (options) =>
        call.runtime.reads.events(filter, { ...options, elevated: { actor: user, scope: view } }),
      )
    },
  }),
  sessionRoute({
    method: 'get',
    path: '/v1/sessions/{session}/events/aggregate',
    summary: 'How many facts fell into each bucket of the window that ends now; empty ones are there',
    query: z.object({
      window: duration,
      bucket: duration,
      type: names.optional(),
    }),
    answer: { status: 200, description: 'Contiguous buckets, oldest first', schema: listOf(bucket) },
    handle: async ({ runtime, scope, query }) => {
      const types = listed(query.type)
      const items = await runtime.reads.aggregate(scope, {
        windowMs: millisecondsOf(query.window),
        bucketMs: millisecondsOf(query.bucket),
        ...(types === undefined ? {} : { types }),
      })
      return { items }
    },
  }),
]

async function streamed(
  call: EventsCall,
  audience: string,
  open: (options: EventsOptions) => Promise<EventStream>,
): Promise<Response> {
  const { runtime, gate, turns, identity, query, request } = call
  const { after, greeting } = await beginning(call)
  const types = listed(query.type)
  const events = await open({
    ephemeral: query.ephemeral !== 'false',
    ...(after === undefined ? {} : { after }),
    ...(types === undefined ? {} : { types }),
    ...(query.task === undefined ? {} : { task: query.task }),
  })
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }
  if (request.method === 'HEAD') return new Response(null, { headers })
  let opened: SseStream | null = null
  const release = gate.openStream(audience, { end: (remark) => opened?.end(remark) })
  opened = new SseStream(events, { ports: runtime.ports, release, turns, expiresAt: identity.expiresAt, greeting })
  return new Response(opened.body(), { headers })
}

/** A reconnecting client repeats its first address, so its last position counts and not what it asked for at first. */
async function beginning({ runtime, query, request }: EventsCall) {
  // A header without a position says none, as a browser that has none sends no header.
  const after = request.headers.get('last-event-id') || query.after
  if (after === undefined || after === '') return { after: undefined, greeting: [] }
  if (after !== 'now') {
    await runtime.reads.checkPosition(after)
    return { after, greeting: [] }
  }
  // "Now" is a position too: a client that is cut before its first event comes back to it.
  const position = await runtime.reads.position()
  return { after: position, greeting: [positionFrame(position)] }
}

function listed(given: string | string[] | undefined): readonly string[] | undefined {
  if (given === undefined) return undefined
  return (Array.isArray(given) ? given : [given]).flatMap((text) => text.split(',')).filter((name) => name !== '')
}

function millisecondsOf(text: string): number {
  const [, amount = '', unit = 's'] = /^([\d.]+)(\D*)$/.exec(text) ?? []
  return Math.round(Number(amount) * (unitMs[unit === '' ? 's' : unit] ?? 0))
}
