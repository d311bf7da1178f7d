import { z } from 'zod'
import { LandfallError } from '../../facts/errors.ts'
import { capability, done, listOf, sessionEntry } from '../answer-schemas.ts'
import { type Identity, isElevated, scopeFor } from '../identity.ts'
import { listPage, pageQuery } from '../page.ts'
import { givenCheckpoint } from '../request-schemas.ts'
import { type Call, type Route, route } from '../route.ts'

/** Changes what everybody in the store may use, so it needs more than an identity. */
function catalogCommand(path: string, summary: string, act: (call: Call<unknown, unknown>) => Promise<unknown>): Route {
  return route({
    method: 'post',
    path,
    summary,
    elevated: 'elevated:capabilities',
    answer: { status: 200, description: 'It holds from now on, everywhere', schema: done },
    handle: async (call) => {
      await act(call)
      return { ok: true } as const
    },
  })
}

export const storeRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/v1/capabilities',
    summary: 'What the host offers',
    query: pageQuery,
    answer: { status: 200, description: 'A page of capabilities', schema: listOf(capability) },
    handle: async ({ runtime, query }) =>
      listPage(runtime.reads.capabilities(), query, runtime.ports.limits, ({ id }) => [id]),
  }),
  catalogCommand(
    '/v1/capabilities/{capability}/revoke',
    'Nobody uses a capability any more, running tasks included',
    ({ runtime, path, identity }) => runtime.catalog.revoke(path.capability ?? '', identity.user),
  ),
  catalogCommand(
    '/v1/providers/{provider}/disable',
    'Nobody uses the capabilities of a provider until it is enabled',
    ({ runtime, path, identity }) => runtime.catalog.disableProvider(path.provider ?? '', identity.user),
  ),
  catalogCommand(
    '/v1/providers/{provider}/enable',
    'The capabilities of a provider may be used again',
    ({ runtime, path, identity }) => runtime.catalog.enableProvider(path.provider ?? '', identity.user),
  ),
  route({
    method: 'post',
    path: '/v1/sessions/restore',
    summary: 'Go on with a finished session from its checkpoint, under its name or another one',
    query: z.object({ session: z.string().optional() }),
    bounds: { bytes: 'checkpointBytes', depth: 'checkpointDepth' },
    body: givenCheckpoint,
    answer: { status: 201, description: 'The session', schema: sessionEntry },
    handle: async ({ runtime, identity, query, body }) => {
      const scope = scopeFor(identity, query.session ?? sessionOf(body))
      await runtime.restore(body, { scope, ...bringing(identity, body) })
      return runtime.reads.session(scope)
    },
  }),
]

/** Of whom the checkpoint says that it is; whose session it becomes is for the credentials to say. */
function origin(checkpoint: unknown): { readonly tenant?: unknown; readonly session?: unknown } {
  const { identity } = checkpoint as { identity?: unknown }
  return typeof identity === 'object' && identity !== null ? identity : {}
}

function sessionOf(checkpoint: unknown): string {
  const { session } = origin(checkpoint)
  if (typeof session === 'string') return session
  throw new LandfallError('CHECKPOINT_INVALID', 'The checkpoint names no session.', { details: { field: 'body' } })
}

/** Who may look over a tenant may bring a session from one of its users to their own, and it is on record. */
function bringing(identity: Identity, checkpoint: unknown): { elevated?: { actor: string } } {
  const isOfTenant = origin(checkpoint).tenant === identity.tenant
  const may = isElevated(identity, 'elevated:fleet') || (isOfTenant && isElevated(identity, 'elevated:tenant'))
  return may ? { elevated: { actor: identity.user } } : {}
}
