import { z } from 'zod'
import { LandfallError } from '../../facts/errors.ts'
import type { SessionEntry } from '../../runtime/list-sessions.ts'
import type { Session } from '../../runtime/session.ts'
import { listOf, receipt, sessionEntry } from '../answer-schemas.ts'
import { type Identity, requireElevated } from '../identity.ts'
import { isBehind, listPage, type Place, pageQuery } from '../page.ts'
import * as bodies from '../request-schemas.ts'
import { type Call, type Route, route, sessionRoute } from '../route.ts'

const base = '/v1/sessions/{session}'
const received = { status: 200, description: 'What the command did', schema: receipt } as const

const sessionsQuery = pageQuery.extend({
  view: z.enum(['user', 'tenant', 'fleet']).optional(),
  tenant: z.string().optional(),
  user: z.string().optional(),
})

/** Sessions of who asks; of a tenant or of all, with the claim for it. */
async function listed({ identity, query, runtime }: Call<z.infer<typeof sessionsQuery>, unknown>) {
  const { tenant, user } = identity
  const { view = 'user' } = query
  if (view === 'user') return reachable(identity, await runtime.sessions({ tenant, user }))
  requireElevated(identity, view === 'tenant' ? 'elevated:tenant' : 'elevated:fleet')
  const of = view === 'tenant' ? tenant : query.tenant
  return runtime.sessions({
    ...(of === undefined ? {} : { tenant: of }),
    ...(query.user === undefined ? {} : { user: query.user }),
    elevated: { actor: user, scope: view },
  })
}

function reachable({ sessions }: Identity, found: readonly SessionEntry[]): readonly SessionEntry[] {
  return sessions === null ? found : found.filter(({ session }) => sessions.has(session))
}

/** By name, as texts compare here: stores may have another order for what is beyond the usual letters. */
function placeOf({ tenant, user, session }: SessionEntry): Place {
  return [tenant, user, session]
}

function inOrder(found: readonly SessionEntry[]): readonly SessionEntry[] {
  return [...found].sort((a, b) => (isBehind(placeOf(a), placeOf(b)) ? 1 : -1))
}

export const sessionRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/v1/sessions',
    summary: 'Summaries of sessions: your own, or with an elevated claim those of a tenant or of all',
    query: sessionsQuery,
    answer: { status: 200, description: 'A page of summaries', schema: listOf(sessionEntry) },
    handle: async (call) => listPage(inOrder(await listed(call)), call.query, call.runtime.ports.limits, placeOf),
  }),
  sessionRoute({
    method: 'get',
    path: base,
    summary: 'The summary of one session',
    answer: { status: 200, description: 'The summary', schema: sessionEntry },
    handle: async ({ runtime, scope }) => runtime.reads.session(scope),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/close`,
    summary: 'Take no more work',
    body: bodies.close,
    answer: received,
    handle: async ({ session, body }) => session.close(body),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/reopen`,
    summary: 'Take work again after a close',
    body: bodies.plain,
    answer: received,
    handle: async ({ session, body }) => session.reopen(body),
  }),
  sessionRoute({
    method: 'delete',
    path: base,
    summary: 'Close for ever and remove all content; the facts stay',
    body: bodies.close,
    answer: received,
    handle: async ({ session, body }) => session.erase(body),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/calls/{call}/confirm`,
    summary: 'Allow or deny a call that waits for approval',
    body: bodies.confirm,
    answer: received,
    handle: async ({ session, path, body: { confirmation, decision, ...more } }) => {
      await checkCall(session, path.call ?? '', confirmation)
      return session.confirm(confirmation, decision, more)
    },
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/acknowledge`,
    summary: 'End the quarantine for the named calls, or for all',
    body: bodies.acknowledge,
    answer: received,
    handle: async ({ session, body: { calls, ...more } }) => session.acknowledge(calls, more),
  }),
]

/** The confirmation that is open for another call is none of this one. A settled or unknown one is the session's to refuse. */
async function checkCall(session: Session, call: string, confirmation: string): Promise<void> {
  const open = (await session.pauses()).find(({ token }) => token === confirmation)
  if (open === undefined || open.call === call) return
  throw new LandfallError('CONFIRMATION_MISMATCH', 'This confirmation is not that of the call. List the open ones.')
}
