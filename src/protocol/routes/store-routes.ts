import { z } from 'zod'
import { LandfallError } from '../../facts/errors.ts'
import { capability, done, listOf, sessionEntry } from '../answer-schemas.ts'
import { listPage, pageQuery } from '../page.ts'
import { type Route, route } from '../route.ts'

const ok = { ok: true } as const
const answer = { status: 200, description: 'It holds from now on, everywhere', schema: done } as const
const elevated = 'elevated:capabilities'

export const storeRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/v1/capabilities',
    summary: 'What the host offers',
    query: pageQuery,
    answer: { status: 200, description: 'A page of capabilities', schema: listOf(capability) },
    handle: async ({ runtime, query }) =>
      listPage(runtime.reads.capabilities(), query, runtime.ports.limits, ({ id }) => id),
  }),
  route({
    method: 'post',
    path: '/v1/capabilities/{capability}/revoke',
    summary: 'Nobody uses a capability any more, running tasks included',
    elevated,
    answer,
    handle: async ({ runtime, path, identity }) => {
      await runtime.catalog.revoke(path.capability ?? '', identity.user)
      return ok
    },
  }),
  route({
    method: 'post',
    path: '/v1/providers/{provider}/disable',
    summary: 'Nobody uses the capabilities of a provider until it is enabled',
    elevated,
    answer,
    handle: async ({ runtime, path, identity }) => {
      await runtime.catalog.disableProvider(path.provider ?? '', identity.user)
      return ok
    },
  }),
  route({
    method: 'post',
    path: '/v1/providers/{provider}/enable',
    summary: 'The capabilities of a provider may be used again',
    elevated,
    answer,
    handle: async ({ runtime, path, identity }) => {
      await runtime.catalog.enableProvider(path.provider ?? '', identity.user)
      return ok
    },
  }),
  route({
    method: 'post',
    path: '/v1/sessions/restore',
    summary: 'Go on with a finished session from its checkpoint',
    body: z.looseObject({}),
    answer: { status: 201, description: 'The session', schema: sessionEntry },
    handle: async () => {
      throw new LandfallError('NOT_SUPPORTED', 'Checkpoints are not there yet.')
    },
  }),
]
