import type { FactData, FactOf } from '../../../machines/facts.ts'
import type { CallEntry, TaskContext } from '../../../machines/task-context.ts'
import {
  type SampleEvent,
  sample,
  sampleDigest,
  sampleEnd,
  sampleFact,
  sampleInput,
  sampleRequest,
  sampleStarted,
  sampleUsage,
} from './sample-fact.ts'
import { sampleTime } from './sample-time.ts'
import { effectOf } from './stand-in-host.ts'

export const taskInput: FactOf<'task.created'> = sampleFact(
  'task.created',
  { ...sampleInput, kind: 'foreground', origin: 'follow_up', requires: 'success', predecessor: 'task-0' },
  { seq: 1, task: 'task-1' },
)

const child = 'task-2'

/** Facts that may come next in a task, made to fit what it holds. */
export function taskSamples(context: TaskContext): readonly SampleEvent[] {
  return [
    ...lifeSamples(context),
    ...modelSamples(context),
    ...Object.entries(context.calls).flatMap(([call, entry]) => callSamples(context, call, entry)),
    ...steeringSamples(context),
    ...pauseSamples(context),
    ...childSamples(context),
  ]
}

function lifeSamples(context: TaskContext): readonly SampleEvent[] {
  const where = { seq: context.seq + 1, task: context.id }
  const barrier = { reason: 'asked for', graceUntil: sampleTime, steering: 'inherit' } as const
  return [
    sample('task.blocked', { predecessor: 'task-0', status: 'failed' }, where),
    sample('task.unblocked', {}, where),
    sample('task.input_replaced', sampleInput, where),
    sample('task.started', sampleStarted, where),
    sample('task.progress', { fraction: 0.5, phase: 'half-way' }, where),
    sample('task.awaiting', { tasks: [child] }, where),
    sample('task.await_settled', { how: 'done', results: [] }, where),
    sample('task.paused', { reasons: ['operator'] }, where),
    sample('task.resumed', {}, where),
    sample('run.resumed', { attempt: context.resumptions + 2, reason: 'crash' }, where),
    sample('task.cancelling', { ...barrier, status: 'cancelled' }, { ...where, what: 'to be cancelled' }),
    sample('task.cancelling', { ...barrier, status: 'superseded' }, { ...where, what: 'to be superseded' }),
    sample('task.quiescing', { calls: [] }, where),
    ...endSamples(where),
  ]
}

function endSamples(where: Parameters<typeof sample>[2]): readonly SampleEvent[] {
  return [
    sample('task.completed', sampleEnd, where),
    sample('task.failed', { ...sampleEnd, code: 'MODEL_FAILED' }, where),
    sample('task.cancelled', sampleEnd, where),
    sample('task.superseded', sampleEnd, where),
  ]
}

function modelSamples(context: TaskContext): readonly SampleEvent[] {
  const where = { seq: context.seq + 1, task: context.id }
  const answer = (names: readonly string[]): FactData['model.completed'] => ({
    usage: sampleUsage,
    finish: names.length === 0 ? 'stop' : 'calls',
    digest: sampleDigest,
    calls: names.map((name, at) => ({ call: `call-${context.step}-${at + 1}`, name, arguments: sampleDigest })),
    durationMs: 12,
  })
  const failure = { code: 'RATE_LIMITED', retryable: true, attempt: 1 }
  return [
    sample('model.requested', { ...sampleRequest, step: context.step }, { ...where, what: 'the turn' }),
    sample('model.requested', { ...sampleRequest, purpose: 'summary' }, { ...where, what: 'a summary' }),
    sample('model.completed', answer([]), { ...where, what: 'final answer' }),
    sample('model.completed', answer(['shop.order']), { ...where, what: 'asks for a call' }),
    sample('model.completed', answer(['shop.order', 'fs.read']), { ...where, what: 'asks for two calls' }),
    sample('model.completed', answer(['tools_load']), { ...where, what: 'asks the planner' }),
    sample('model.failed', { ...failure, retryAt: sampleTime }, { ...where, what: 'is tried again' }),
    sample('model.failed', { ...failure, retryable: false }, { ...where, what: 'for good' }),
    sample('model.abandoned', { reason: 'crash', charged: sampleUsage }, where),
  ]
}

const outcomes: FactData['call.finished'] = { outcome: 'succeeded', digest: sampleDigest, bytes: 40, durationMs: 3 }

/** The task's chart would take more; the call's own chart would not. */
const callFacts: { readonly [P in CallEntry['phase']]: readonly string[] } = {
  requested: ['call.refused', 'call.held', 'call.started', 'call.cancelled', 'call.unknown'],
  held: ['call.held', 'call.started', 'call.refused', 'call.cancelled', 'call.unknown'],
  started: [
    'call.finished',
    'call.held',
    'call.cancelled',
    'call.unknown',
    'call.interrupted',
    'call.aborting',
    'call.verifying',
  ],
  aborting: ['call.finished', 'call.cancelled', 'call.unknown', 'call.verifying'],
  verifying: ['call.verified', 'call.finished', 'call.cancelled', 'call.unknown'],
  settled: [],
}

function callSamples(context: TaskContext, call: string, entry: CallEntry): readonly SampleEvent[] {
  const isKnown = entry.effect !== null
  const fits = ({ event }: SampleEvent) =>
    isKnown ? callFacts[entry.phase].includes(event.type) : event.type === 'call.requested'
  return entry.phase === 'settled' ? [] : allCallSamples(context, call, entry).filter(fits)
}

function allCallSamples(context: TaskContext, call: string, entry: CallEntry): readonly SampleEvent[] {
  const where = { seq: context.seq + 1, task: context.id, call, what: call }
  const requested = {
    name: entry.name,
    ...effectOf(entry.name),
    arguments: sampleDigest,
    bytes: 20,
    batch: context.step,
    index: entry.index,
  }
  return [
    sample('call.requested', requested as FactData['call.requested'], where),
    sample('call.held', { reason: 'approval', token: `pause-${call}` }, where),
    sample('call.started', { attempt: entry.attempts + 1, control: 0 }, where),
    sample('call.finished', outcomes, { ...where, what: `${call} succeeded` }),
    sample('call.finished', { ...outcomes, outcome: 'failed', code: 'THREW' }, { ...where, what: `${call} failed` }),
    sample('call.refused', { code: 'AUTHORIZATION_DENIED' }, where),
    sample('call.cancelled', { when: 'before_start' }, where),
    sample('call.unknown', { reason: 'grace' }, where),
    sample('call.aborting', { reason: 'cancel', graceUntil: sampleTime }, where),
    sample('call.interrupted', { attempt: entry.attempts }, where),
    sample('call.verifying', { deadline: sampleTime }, where),
    sample('call.verified', { outcome: 'unknown' }, where),
  ]
}

function steeringSamples(context: TaskContext): readonly SampleEvent[] {
  const where = { seq: context.seq + 1, task: context.id }
  const message = { message: `message-${context.seq}`, digest: sampleDigest, bytes: 8 }
  return [
    sample('steering.queued', { ...message, mode: 'boundary' }, { ...where, what: 'at the boundary' }),
    sample('steering.queued', { ...message, mode: 'interrupt' }, { ...where, what: 'interrupts' }),
    sample('steering.inherited', { messages: [message.message], from: 'task-0' }, where),
    sample('steering.applied', { messages: context.steering, step: context.step }, where),
  ]
}

function pauseSamples(context: TaskContext): readonly SampleEvent[] {
  const where = { seq: context.seq + 1, task: context.id }
  const held = Object.entries(context.calls).filter(([, entry]) => entry.phase === 'held')
  const open = Object.entries(context.pauses).flatMap(([token, pause]) =>
    (['approve', 'reject'] as const).map((decision) =>
      sample(
        'pause.settled',
        { token, decision },
        { ...where, call: pause.call, what: `${shortToken(token)}, ${decision}` },
      ),
    ),
  )
  return [
    sample('pause.requested', { token: 'pause-own', reason: 'operator' }, { ...where, what: 'the task' }),
    ...held.map(([call]) =>
      sample('pause.requested', { token: `pause-${call}`, reason: 'approval' }, { ...where, call, what: call }),
    ),
    ...(open.length > 0 ? open : [sample('pause.settled', { token: 'pause-own', decision: 'approve' }, where)]),
  ]
}

function childSamples(context: TaskContext): readonly SampleEvent[] {
  const where = { seq: context.seq + 1, task: child, what: 'a child' }
  const created = { ...sampleInput, kind: 'background', origin: 'spawn', requires: 'none', parent: context.id } as const
  return child in context.descendants
    ? endSamples(where)
    : [sample('task.created', { ...created, propagate: 'cascade' }, where)]
}

/** A token of a runtime is long, and its beginning tells it from others. */
function shortToken(token: string): string {
  return token.length > 20 ? `${token.slice(0, 8)}…` : token
}
