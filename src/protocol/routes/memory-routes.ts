import { z } from 'zod'
import { LandfallError } from '../../facts/errors.ts'
import { notes, receipt } from '../answer-schemas.ts'
import { listPage, pageQuery } from '../page.ts'
import * as bodies from '../request-schemas.ts'
import { type Route, sessionRoute } from '../route.ts'

const path = '/v1/sessions/{session}/memory'
const received = { status: 200, description: 'What the command did', schema: receipt } as const

export const memoryRoutes: readonly Route[] = [
  sessionRoute({
    method: 'get',
    path,
    summary: 'Keys and sizes of the notes that the session reads; with a key that note',
    query: pageQuery.extend({ scope: z.enum(['session', 'user', 'tenant']).optional(), key: z.string().optional() }),
    answer: { status: 200, description: 'A page of notes, or one with its value', schema: notes },
    handle: async ({ session, query, runtime }) => {
      const { scope = 'session', key } = query
      if (key === undefined)
        return listPage(await session.memory.list(scope), query, runtime.ports.limits, ({ key: name }) => [name])
      const value = await session.memory.get(key, scope)
      if (value === undefined) throw new LandfallError('NOT_FOUND', 'No such note in this memory.')
      return { key, scope, value }
    },
  }),
  sessionRoute({
    method: 'post',
    path,
    summary: 'Note something in the memory of the session, under a new key or in the place of what was there',
    body: bodies.putNote,
    answer: received,
    handle: async ({ session, body: { key, value, ...more } }) => session.memory.put(key, value, more),
  }),
  sessionRoute({
    method: 'post',
    path: `${path}/remove`,
    summary: 'Remove a note; from the memory of the user or the tenant only if the policy of the host allows it',
    body: bodies.removeNote,
    answer: received,
    handle: async ({ session, body: { key, ...more } }) => session.memory.remove(key, more),
  }),
  sessionRoute({
    method: 'post',
    path: `${path}/promote`,
    summary: 'Copy a note to the memory of the user or the tenant, if the policy of the host allows it',
    body: bodies.promoteNote,
    answer: received,
    handle: async ({ session, body: { key, ...more } }) => session.memory.promote(key, more),
  }),
]
