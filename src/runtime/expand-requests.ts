import type { AgendaItem } from '../../machines/agenda.ts'
import { limitOf } from '../../machines/session-context.ts'
import { ownPause, type TaskContext } from '../../machines/task-context.ts'
import { streakLimit } from '../../machines/task-fold.ts'
import type { AbandonReason, TaskId } from '../../machines/vocabulary.ts'
import type { TaskSnapshot } from '../../machines/world.ts'
import { dueWarnings, inputTokens } from '../context/budget.ts'
import { type Account, accountFor } from './account-request.ts'
import { compact, steeringBytes } from './compact.ts'
import { equip } from './desk-builder.ts'
import { added, needed } from './expand-messages.ts'
import { followView } from './lane.ts'
import { requestDigest } from './request-digest.ts'
import type { Step } from './step.ts'
import { takeSummary } from './take-summary.ts'
import { boundOf } from './task-bound.ts'
import type { TaskDesk } from './task-desk.ts'

/** The boundary, the only place where a turn finishes, fails by a bound, rests, takes steering in or asks the model again. */
export function continueTurn(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = step.world.tasks.get(task)
  if (snapshot === undefined || step.failing.has(task) || !snapshot.matches({ running: 'boundary' })) return []
  const { context } = snapshot
  if (context.answered && context.steering.length === 0) return complete(task, context)
  const summary = takeSummary(step, task)
  if (summary !== null) return [...summary, { ask: 'continueTurn', task }]
  if (ownPause(context) !== null) return [{ ask: 'restIfIdle', task }]
  if (step.base.closing) return []
  const compacted = compact(step, task, context)
  if (compacted !== null) return [...compacted, { ask: 'continueTurn', task }]
  return exceeded(step, task, context) ?? applySteering(step, task, context)
}

function complete(task: TaskId, context: TaskContext): readonly AgendaItem[] {
  const withdrawn = Object.entries(context.pauses).map(
    ([token, pause]): AgendaItem => ({
      type: 'pause.settled',
      task,
      call: pause.call,
      data: { token, decision: 'withdrawn' },
    }),
  )
  return [...withdrawn, { ask: 'endTask', task, status: 'completed' }]
}

/** Bounds of a turn that end it at the boundary. */
function exceeded(step: Step, task: TaskId, context: TaskContext): readonly AgendaItem[] | null {
  const session = needed(step.world.session, 'session').context
  const { limits } = step.base.host
  const { streak } = context
  if (streak !== null && streak.count >= streakLimit)
    return [{ ask: 'failTask', task, code: streak.kind === 'denial' ? 'REPEATED_DENIAL' : 'REPEATED_FAILURE' }]
  if (context.attempts >= limits.modelAttempts) return [{ ask: 'failTask', task, code: 'MODEL_FAILED' }]
  const steps = boundOf(step, task, 'stepsPerTurn')
  if (context.step >= steps) return overBudget(task, 'stepsPerTurn', context.step, steps)
  const transcript = boundOf(step, task, 'toolTranscriptBytesPerTurn')
  const { toolBytes } = needed(step.world.taskRecords.get(task), 'task record')
  if (toolBytes > transcript) return overBudget(task, 'toolTranscriptBytesPerTurn', toolBytes, transcript)
  const messages = limitOf(session, 'messagesPerSession', limits.messagesPerSession)
  const view = needed(step.base.desks.get(task), 'desk').view
  if (view.length + context.steering.length > messages)
    return overBudget(task, 'messagesPerSession', view.length + context.steering.length, messages)
  return null
}

export function overBudget(task: TaskId, what: string, used: number, limit: number): readonly AgendaItem[] {
  return [
    { type: 'budget.exceeded', task, data: { what, used, limit } },
    { ask: 'failTask', task, code: 'BUDGET_EXCEEDED', reason: `the bound ${what} is reached` },
  ]
}

/** Pending steering joins the view only together with the request that carries it, so room is made sure of first. */
function applySteering(step: Step, task: TaskId, context: TaskContext): readonly AgendaItem[] {
  if (context.steering.length === 0) return [{ ask: 'requestModel', task }]
  const steers = context.steering.map((message) => ({
    message,
    content: needed(step.base.bodies.steering.get(message), 'steering'),
  }))
  const admission = admit(step, task, steeringBytes(step, context))
  if (admission.refusal !== null) return admission.refusal
  for (const message of context.steering) step.base.bodies.steering.delete(message)
  return [
    { type: 'steering.applied', task, data: { messages: context.steering, step: context.step } },
    ...steers.map(({ message, content }) => added(step, { task, role: 'user', message }, content)),
    { ask: 'requestModel', task },
  ]
}

export function requestModel(step: Step, task: TaskId): readonly AgendaItem[] {
  const snapshot = needed(step.world.tasks.get(task), 'task')
  const admission = admit(step, task, 0)
  if (admission.refusal !== null) return admission.refusal
  const { desk, answer, accounted } = admission
  const record = needed(step.world.taskRecords.get(task), 'task record')
  const started = needed(record.started, 'start')
  return [
    ...warnings(step, task),
    accounted,
    {
      type: 'model.requested',
      task,
      data: {
        request: requestDigest(step.base.key, record, { tools: desk.offer.digest, rolling: desk.view.rolling }),
        model: started.model,
        purpose: 'turn',
        step: snapshot.context.step,
        attempt: snapshot.context.attempts + 1,
        messages: desk.view.length,
        tools: desk.offer.tools.length,
        maxOutput: answer.maxOutput,
        reserved: answer.reservation,
        deadline: step.after(step.base.host.requestTimeoutMs),
      },
    },
  ]
}

interface Admission extends Account {
  readonly desk: TaskDesk
  readonly refusal: readonly AgendaItem[] | null
}

/** `more`: bytes that will join the view together with the request. */
function admit(step: Step, task: TaskId, more: number): Admission {
  const { world, bodies, desks } = step.base
  const record = needed(world.taskRecords.get(task), 'task record')
  const desk = needed(desks.get(task), 'desk')
  equip(step.base, desk, record)
  followView(world, bodies, desk)
  const occupancy = desk.baseOccupancy + desk.view.occupancy + more
  const account = accountFor(step, record, { purpose: 'turn', occupancy })
  return { ...account, desk, refusal: account.admitted ? null : refusal(task, account, world.used) }
}

function refusal(task: TaskId, { answer, accounted, limit }: Account, used: number): readonly AgendaItem[] {
  if (!answer.fits) return [accounted, { ask: 'failTask', task, code: 'CONTEXT_OVERFLOW' }]
  return [accounted, ...overBudget(task, 'tokens', used, limit ?? 0)]
}

/** Given once each, as soon as the session has used so much. */
export function warnings(step: Step, task: TaskId): readonly AgendaItem[] {
  const limit = step.world.session?.context.settings.budget?.tokens ?? null
  const used = step.world.used
  return dueWarnings(used, limit, step.world.warned).map((percent) => ({
    type: 'budget.warning',
    task,
    data: { what: 'tokens', used, limit: limit ?? 0, percent },
  }))
}

/** A cut request is charged for what was sent and what came back, as an estimate. */
export function abandonRequest(step: Step, task: TaskId, reason: AbandonReason): readonly AgendaItem[] {
  const snapshot: TaskSnapshot | undefined = step.world.tasks.get(task)
  const reservation = step.world.reserved.get(task)
  if (snapshot?.context.request == null || reservation === undefined) return []
  const input = reservation.reserved - reservation.maxOutput
  const output = inputTokens(step.base.received(task))
  const charged = { input, output, total: input + output, estimated: true } as const
  return [{ type: 'model.abandoned', task, data: { reason, charged } }]
}
