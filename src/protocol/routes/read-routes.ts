import { z } from 'zod'
import type { TaskView } from '../../runtime/state-view.ts'
import * as answers from '../answer-schemas.ts'
import { ledgerPage } from '../ledger-page.ts'
import { listPage, type Place, pageQuery, seqPage, seqPageQuery } from '../page.ts'
import { type Route, sessionRoute } from '../route.ts'

const base = '/v1/sessions/{session}'
const { listOf } = answers

const ofTask = pageQuery.extend({ task: z.string().optional() })

export const readRoutes: readonly Route[] = [
  sessionRoute({
    method: 'get',
    path: `${base}/pauses`,
    summary: 'What waits for a decision, newest first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of open pauses', schema: listOf(answers.pause) },
    handle: async ({ session, query, runtime }) =>
      listPage(await session.pauses(), query, runtime.ports.limits, ({ seq }) => [-seq]),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/queue`,
    summary: 'Pending turns in the order in which they will start',
    query: pageQuery,
    answer: { status: 200, description: 'A page of tasks', schema: listOf(answers.task) },
    handle: async ({ session, query, runtime }) =>
      listPage(await session.queue(), query, runtime.ports.limits, placeInQueue),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/calls`,
    summary: 'Calls in the order in which they were asked for, with redacted arguments',
    query: ofTask,
    answer: { status: 200, description: 'A page of calls', schema: listOf(answers.call) },
    handle: async ({ session, query, runtime }) =>
      listPage(await session.calls(query.task), query, runtime.ports.limits, ({ seq }) => [seq]),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/messages`,
    summary: 'The conversation, with its content',
    query: seqPageQuery,
    answer: { status: 200, description: 'A page of messages', schema: listOf(answers.message) },
    handle: async ({ session, query, runtime }) =>
      seqPage(query, runtime.ports.limits, (page) => session.messages(page)),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/log`,
    summary: 'Facts of the session, in order',
    query: seqPageQuery,
    answer: { status: 200, description: 'A page of facts', schema: listOf(answers.fact) },
    handle: async ({ session, query, runtime }) => seqPage(query, runtime.ports.limits, (page) => session.log(page)),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/state`,
    summary: 'The folded state, also of the past',
    query: z.object({ at: z.coerce.number().int().min(1).optional() }),
    answer: { status: 200, description: 'The state', schema: answers.state },
    handle: async ({ session, query: { at } }) => session.state(at === undefined ? {} : { at }),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/request`,
    summary: 'The model request that was sent at a fact, rebuilt',
    query: z.object({ seq: z.coerce.number().int().min(1) }),
    answer: { status: 200, description: 'The request', schema: answers.request },
    handle: async ({ session, query }) => session.request(query),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/patch`,
    summary: 'What changed in the workspace since the session began; as plain text for who accepts text/x-diff',
    headers: ['Accept'],
    answer: { status: 200, description: 'A patch that git apply takes', schema: answers.patch },
    handle: async ({ session, request }) => {
      const patch = await session.patch()
      if (!/\btext\/(x-diff|x-patch|plain)\b/.test(request.headers.get('accept') ?? '')) return { patch }
      return new Response(patch, {
        headers: { 'content-type': 'text/x-diff; charset=utf-8', 'cache-control': 'no-store' },
      })
    },
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/ledger`,
    summary: 'What was done and decided, in order, with digests as evidence',
    query: pageQuery,
    answer: { status: 200, description: 'A page of entries', schema: listOf(answers.ledgerEntry) },
    handle: async ({ session, query, runtime }) => ledgerPage(await session.ledger(), query, runtime.ports.limits),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/checkpoint`,
    summary: 'The session as a portable document, as it is now or was at a fact',
    query: z.object({ at: z.coerce.number().int().min(1).optional() }),
    answer: { status: 200, description: 'The checkpoint', schema: answers.checkpoint },
    handle: async ({ session, query: { at } }) => session.checkpoint(at === undefined ? {} : { at }),
  }),
]

/** What replaces the active turn goes before all that were queued, whenever they were. */
function placeInQueue({ origin, seq }: TaskView): Place {
  return [origin === 'supersede' ? 0 : 1, seq]
}
