import type { AnyMachineSnapshot } from 'xstate'
import type { Fact } from '../../machines/facts.ts'
import { taskMachine } from '../../machines/public.ts'
import { type CallEntry, ownPause, type TaskContext } from '../../machines/task-context.ts'
import { sampleDigest, sampleId } from '../../test/facts/sample-facts.ts'
import { callAccepts } from './neighbours.ts'
import { sampleFact } from './sample-fact.ts'
import type { Journey } from './walk.ts'

/** Two calls, one descendant, one steering message, an own pause and a pause of the first call. */
const task = sampleId(10)
const child = sampleId(11)
const calls = [sampleId(30), sampleId(31)]
const message = sampleId(40)
/** A tool that the runtime folds by itself. */
const planned = 'tools_load'
const ownToken = sampleId(60)
const callToken = sampleId(61)

function batchFacts(snapshot: AnyMachineSnapshot): readonly Fact[] {
  const context: TaskContext = snapshot.context
  return [
    ...lifeFacts(),
    ...modelFacts(context, calls),
    ...pauseFacts(context),
    ...Object.entries(context.calls).flatMap(([call, entry]) => callFacts(call, entry)),
  ]
}

function sideFacts(snapshot: AnyMachineSnapshot): readonly Fact[] {
  const context: TaskContext = snapshot.context
  return [
    ...lifeFacts(),
    ...childFacts(context),
    ...steeringFacts(context),
    ...modelFacts(context, calls.slice(0, 1)),
    ...ownPauseFacts(context),
    ...Object.entries(context.calls).flatMap(([call, entry]) => callFacts(call, entry)),
  ]
}

function lifeFacts(): readonly Fact[] {
  return [
    sampleFact('task.blocked', {}, { task }),
    sampleFact('task.unblocked', {}, { task }),
    sampleFact('task.input_replaced', {}, { task }),
    sampleFact('task.started', {}, { task }),
    sampleFact('run.resumed', {}, { task }),
    sampleFact('task.progress', {}, { task }),
    sampleFact('task.paused', {}, { task }),
    sampleFact('task.resumed', {}, { task }),
    sampleFact('task.awaiting', {}, { task }),
    sampleFact('task.await_settled', {}, { task }),
    sampleFact('task.cancelling', { status: 'cancelled' }, { task }),
    sampleFact('task.cancelling', { status: 'superseded' }, { task }),
    sampleFact('task.cancelling', { status: 'failed' }, { task }),
    sampleFact('task.quiescing', {}, { task }),
    sampleFact('task.completed', {}, { task }),
    sampleFact('task.failed', {}, { task }),
    sampleFact('task.cancelled', {}, { task }),
    sampleFact('task.superseded', {}, { task }),
  ]
}

function childFacts(context: TaskContext): readonly Fact[] {
  const where = { task: child }
  if (!(child in context.descendants))
    return [sampleFact('task.created', { parent: task, propagate: 'cascade' }, where)]
  return [
    sampleFact('task.completed', {}, where),
    sampleFact('task.failed', {}, where),
    sampleFact('task.cancelled', {}, where),
    sampleFact('task.superseded', {}, where),
  ]
}

function steeringFacts(context: TaskContext): readonly Fact[] {
  if (context.steering.length > 0) return [sampleFact('steering.applied', { messages: context.steering }, { task })]
  return [
    sampleFact('steering.queued', { message, mode: 'boundary' }, { task }),
    sampleFact('steering.queued', { message, mode: 'interrupt' }, { task }),
    sampleFact('steering.inherited', { messages: [message] }, { task }),
  ]
}

function modelFacts(context: TaskContext, batch: readonly string[]): readonly Fact[] {
  const asked = batch.map((call) => ({ call, name: 'shop.order', arguments: sampleDigest }))
  const { retryAt: _, ...final } = sampleFact('model.failed').data
  const failed = sampleFact('model.failed', {}, { task })
  if (context.request === null)
    return [
      sampleFact('model.requested', { purpose: 'turn' }, { task }),
      sampleFact('model.requested', { purpose: 'summary' }, { task }),
    ]
  return [
    sampleFact('model.completed', { calls: [] }, { task }),
    sampleFact('model.completed', { calls: asked.slice(0, 1) }, { task }),
    sampleFact('model.completed', { calls: asked.slice(0, 1).map((call) => ({ ...call, name: planned })) }, { task }),
    sampleFact('model.completed', { calls: asked }, { task }),
    { ...failed, data: final },
    { ...failed, data: { ...final, retryAt: failed.at } },
    sampleFact('model.abandoned', {}, { task }),
  ]
}

function ownPauseFacts(context: TaskContext): readonly Fact[] {
  return [
    // A second own pause must be refused as well.
    sampleFact('pause.requested', { token: ownPause(context) === null ? ownToken : sampleId(62) }, { task }),
    sampleFact('pause.settled', { token: ownToken, decision: 'approve' }, { task }),
    sampleFact('pause.settled', { token: ownToken, decision: 'reject' }, { task }),
  ]
}

function pauseFacts(context: TaskContext): readonly Fact[] {
  const [call = ''] = calls
  const where = { task, call }
  const open = callToken in context.pauses
  const held = sampleFact('pause.requested', { token: callToken, reason: 'approval' }, where)
  return [
    ...ownPauseFacts(context),
    ...(call in context.calls && !open ? [held] : []),
    sampleFact('pause.settled', { token: callToken, decision: 'approve' }, where),
    sampleFact('pause.settled', { token: callToken, decision: 'reject' }, where),
  ]
}

/** The first call changes something, the second only reads. */
function callFacts(call: string, entry: CallEntry): readonly Fact[] {
  if (entry.name === planned) return []
  const where = { task, call }
  const effect = call === calls[0] ? 'mutate' : 'read'
  if (entry.effect === null) return [sampleFact('call.requested', { effect }, where)]
  const all = [
    sampleFact('call.refused', {}, where),
    sampleFact('call.held', { reason: 'quarantine' }, where),
    sampleFact('call.started', { attempt: entry.attempts + 1 }, where),
    sampleFact('call.aborting', {}, where),
    sampleFact('call.interrupted', {}, where),
    sampleFact('call.finished', { outcome: 'succeeded' }, where),
    sampleFact('call.finished', { outcome: 'failed', code: 'THREW' }, where),
    sampleFact('call.cancelled', {}, where),
    sampleFact('call.unknown', {}, where),
    sampleFact('call.verifying', {}, where),
    sampleFact('call.verified', {}, where),
  ]
  const held = sampleFact('call.held', { reason: 'approval', token: callToken }, where)
  return [...all, ...(effect === 'mutate' ? [held] : [])].filter(({ type }) => callAccepts(entry.phase, type))
}

function projectCall({ effect, phase, hold, token }: CallEntry): unknown {
  return [effect, phase, hold, token !== null]
}

export const taskJourney: Journey = {
  machine: taskMachine,
  births: [
    sampleFact('task.created', {}, { task }),
    sampleFact('task.created', { origin: 'follow_up', requires: 'success' }, { task }),
  ],
  alphabets: [batchFacts, sideFacts],
  project: ({ value, context }) => {
    const { requires, request, answered, steering, interrupting, pauses, awaiting, barrier, descendants }: TaskContext =
      context
    const batch = calls.map((call) => {
      const entry: CallEntry | undefined = context.calls[call]
      return entry === undefined ? null : projectCall(entry)
    })
    const backsOff = context.retryAt !== null
    const waits = [steering.length > 0, interrupting, Object.keys(pauses).sort(), awaiting !== null, backsOff]
    return [value, requires, request?.purpose, answered, batch, waits, barrier?.status, Object.keys(descendants).length]
  },
  statesMax: 200_000,
}
