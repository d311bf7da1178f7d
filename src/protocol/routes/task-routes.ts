import { z } from 'zod'
import { readTraceparent } from '../../facts/trace-context.ts'
import type { Session } from '../../runtime/session.ts'
import type { TaskHandle } from '../../runtime/task-handle.ts'
import { listOf, receipt, task, taskCreated } from '../answer-schemas.ts'
import { listPage, pageQuery } from '../page.ts'
import { tokenOf } from '../pause-of-task.ts'
import * as bodies from '../request-schemas.ts'
import { type Route, sessionRoute } from '../route.ts'
import { taskAsEnded, waitForEnd } from '../wait-for-end.ts'

const base = '/v1/sessions/{session}/tasks'
const received = { status: 200, description: 'What the command did', schema: receipt } as const

type NewTask = z.infer<typeof bodies.newTask>

/** A header that is no trace context is passed over, as its standard wants it. */
function tracedBy(request: Request): { traceparent?: string } {
  const traceparent = request.headers.get('traceparent')
  return traceparent === null || readTraceparent(traceparent) === null ? {} : { traceparent }
}

/** The key makes a repeated spawn the same task; the trace makes the task's span a child of the caller's. */
function begin(session: Session, body: NewTask, request: Request): Promise<TaskHandle> {
  const trace = tracedBy(request)
  if (body.kind === 'background') {
    const { kind: _kind, input, ...more } = body
    const key = request.headers.get('idempotency-key')
    return session.spawn(input, { ...more, ...trace, ...(key === null ? {} : { idempotencyKey: key }) })
  }
  const { action, kind: _kind, input, ...more } = body
  const options = { ...more, ...trace }
  switch (action) {
    case 'start':
      return session.start(input, options)
    case 'follow_up':
      return session.followUp(input, options)
    case 'supersede':
      return session.supersede(input, options)
  }
}

export const taskRoutes: readonly Route[] = [
  sessionRoute({
    method: 'post',
    path: base,
    summary: 'Start a turn, queue one behind the active one, replace the active one, or spawn work beside it',
    headers: ['Idempotency-Key', 'traceparent'],
    body: bodies.newTask,
    answer: { status: 201, description: 'The task, and what the command did', schema: taskCreated },
    handle: async ({ session, body, request }) => {
      const { id, receipt: got } = await begin(session, body, request)
      return { task: id, receipt: got, ...(got.seq === undefined ? {} : { seq: got.seq }) }
    },
  }),
  sessionRoute({
    method: 'get',
    path: base,
    summary: 'Tasks of the session, oldest first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of tasks', schema: listOf(task) },
    handle: async ({ session, query, runtime }) =>
      listPage(await session.tasks(), query, runtime.ports.limits, ({ seq }) => [seq]),
  }),
  sessionRoute({
    method: 'get',
    path: `${base}/{task}`,
    summary: 'One task, with its outcome once it has one; wait holds the answer until then',
    query: z.object({ wait: z.coerce.number().min(0).optional() }),
    answer: { status: 200, description: 'The task as it is when it has ended or the wait is over', schema: task },
    handle: async (call) => {
      const { path, query, session } = call
      if (query.wait !== undefined && query.wait > 0) return waitForEnd(call, path.task ?? '', query.wait)
      return taskAsEnded(session, path.task ?? '')
    },
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/{task}/steer`,
    summary: 'Add to a running turn',
    body: bodies.steer,
    answer: received,
    handle: async ({ session, path, body: { input, ...more } }) =>
      session.steer(input, { task: path.task ?? '', ...more }),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/{task}/cancel`,
    summary: 'Cancel a task',
    body: bodies.cancel,
    answer: received,
    handle: async ({ session, path, body }) => session.cancel({ task: path.task ?? '', ...body }),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/{task}/pause`,
    summary: 'Let a task rest as soon as nothing of it is in flight',
    body: bodies.plain,
    answer: received,
    handle: async ({ session, path, body }) => session.pause({ task: path.task ?? '', ...body }),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/{task}/resume`,
    summary: 'Settle a pause of a task; without a token its only open one',
    body: bodies.resume,
    answer: received,
    handle: async ({ session, path, body }) => {
      const { token: named, decision = 'resume', ...more } = body
      const token = await tokenOf(session, { task: path.task ?? '', token: named, commandId: more.commandId })
      return session.resume(token, { decision, ...more })
    },
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/{task}/unblock`,
    summary: 'Let a pending task start although its predecessor did not complete',
    body: bodies.plain,
    answer: received,
    handle: async ({ session, path, body }) => session.unblock(path.task ?? '', body),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/{task}/replace`,
    summary: 'Give a pending task another input',
    body: bodies.replace,
    answer: received,
    handle: async ({ session, path, body: { input, ...more } }) => session.replace(path.task ?? '', input, more),
  }),
  sessionRoute({
    method: 'post',
    path: `${base}/{task}/grants`,
    summary: 'Take authority from a task; it is never given back',
    body: bodies.reduceGrant,
    answer: received,
    handle: async ({ session, path, body: { id, grant, ...more } }) =>
      session.reduceGrant(path.task ?? '', id, grant, more),
  }),
]
