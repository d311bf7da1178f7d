import type { FactData, TerminalType } from '../../machines/facts.ts'
import type { CallCounts, Effect, Grant, HoldReason, PauseReason, Purpose } from '../../machines/vocabulary.ts'
import type { TestDraft } from './log-builder.ts'

export const digest = `hmac-sha256:${'ab'.repeat(32)}`
export const later = '2026-01-01T00:00:10.000Z'

const settings = {
  model: 'demo',
  system: null,
  limits: {},
  budget: null,
  context: { windowTokens: 65_536, thresholdTokens: 50_000, tailMessages: 20, reserveTokens: 1024 },
}

export const noCalls: CallCounts = { total: 0, failed: 0, succeededMutating: 0, unknownMutating: 0, cancelled: 0 }

export const opened: TestDraft = { type: 'session.opened', data: { settings } }

export function created(task: string, extra: Partial<FactData['task.created']> = {}): TestDraft {
  const data = { input: digest, bytes: 5, request: digest, watermark: 1, requires: 'none', ...extra } as const
  return { type: 'task.created', task, data: { kind: 'foreground', origin: 'start', ...data } }
}

export function followUp(task: string, predecessor: string, requires: 'none' | 'success' = 'none'): TestDraft {
  return created(task, { origin: 'follow_up', predecessor, requires })
}

export function child(task: string, extra: Partial<FactData['task.created']> = {}): TestDraft {
  return created(task, { kind: 'background', origin: 'spawn', propagate: 'cascade', ...extra })
}

export function started(task: string, grants: { readonly [id: string]: Grant } = {}): TestDraft {
  const data = { generation: 1, control: 0, capabilities: [], grants, model: 'demo', system: null, settings: {} }
  return { type: 'task.started', task, data }
}

type Role = FactData['message.added']['role']
type SaidExtra = Partial<FactData['message.added']>

export function said(task: string, role: Role, extra: SaidExtra = {}): TestDraft {
  return { type: 'message.added', task, data: { message: `m-${task}-${role}`, role, digest, bytes: 5, ...extra } }
}

export function toolSaid(task: string, call: string, synthetic = false): TestDraft {
  return said(task, 'tool', { forCall: call, ...(synthetic ? { synthetic: true as const } : {}) })
}

/** `[call, name]` pairs as an answer has them. */
export type Asked = readonly (readonly [string, string])[]

export function assistantSaid(task: string, calls: Asked = []): TestDraft {
  return said(task, 'assistant', { toolCalls: calls.map(([call, name]) => ({ call, name })) })
}

export function accounted(task: string, extra: Partial<FactData['context.accounted']> = {}): TestDraft {
  const data = { algorithm: 'utf8-upper-bound/v1', occupancy: 100, reserve: 50, window: 1000, admitted: true } as const
  const spent = { purpose: 'turn' as Purpose, used: 0, reserved: 0, limit: null }
  return { type: 'context.accounted', task, data: { ...data, ...spent, ...extra } }
}

export function requested(task: string, step: number, extra: Partial<FactData['model.requested']> = {}): TestDraft {
  const what = { request: digest, model: 'demo', purpose: 'turn' as Purpose, attempt: 1, messages: 1, tools: 0 }
  return {
    type: 'model.requested',
    task,
    data: { ...what, step, maxOutput: 50, reserved: 75, deadline: later, ...extra },
  }
}

/** Account and request as they stand together; `used` is what earlier answers cost (each answer of these fixtures costs 10). */
export function asks(task: string, step: number, used: number, reserved = 0): TestDraft[] {
  return [accounted(task, { used, reserved }), requested(task, step)]
}

export function answered(task: string, calls: Asked = []): TestDraft {
  const usage = { input: 6, output: 4, total: 10 }
  const told = calls.map(([call, name]) => ({ call, name, arguments: digest }))
  return { type: 'model.completed', task, data: { usage, finish: 'stop', digest, calls: told, durationMs: 5 } }
}

export function callRequested(task: string, call: string, name: string, effect?: Effect): TestDraft {
  const data = { name, arguments: digest, bytes: 2, batch: 0, index: 0 }
  return { type: 'call.requested', task, call, data: effect === undefined ? data : { ...data, effect } }
}

export function callStarted(task: string, call: string, attempt = 1): TestDraft {
  return { type: 'call.started', task, call, data: { attempt, control: 0 } }
}

export function callFinished(task: string, call: string, outcome: 'succeeded' | 'failed' = 'succeeded'): TestDraft {
  return { type: 'call.finished', task, call, data: { outcome, digest, bytes: 2, durationMs: 5 } }
}

export function callHeld(task: string, call: string, reason: HoldReason, token?: string): TestDraft {
  return { type: 'call.held', task, call, data: token === undefined ? { reason } : { reason, token } }
}

export function callUnknown(task: string, call: string, reason: 'grace' | 'crash' = 'grace'): TestDraft {
  return { type: 'call.unknown', task, call, data: { reason } }
}

export function callCancelled(task: string, call: string, when: FactData['call.cancelled']['when']): TestDraft {
  return { type: 'call.cancelled', task, call, data: { when } }
}

export function aborting(task: string, call: string): TestDraft {
  return { type: 'call.aborting', task, call, data: { reason: 'cancel', graceUntil: later } }
}

export function quarantined(task: string, ...calls: string[]): TestDraft {
  return { type: 'mutation.quarantined', task, data: { calls } }
}

export function acknowledged(...calls: string[]): TestDraft {
  return { type: 'mutation.acknowledged', data: { calls } }
}

export function pauseRequested(task: string, token: string, reason: PauseReason, call?: string): TestDraft {
  return { type: 'pause.requested', task, call: call ?? null, data: { token, reason } }
}

export function pauseSettled(
  task: string,
  token: string,
  decision: FactData['pause.settled']['decision'],
  call?: string,
): TestDraft {
  return { type: 'pause.settled', task, call: call ?? null, data: { token, decision } }
}

export function paused(task: string, ...reasons: PauseReason[]): TestDraft {
  return { type: 'task.paused', task, data: { reasons } }
}

export function resumed(task: string): TestDraft {
  return { type: 'task.resumed', task, data: {} }
}

export function cancelling(task: string, extra: Partial<FactData['task.cancelling']> = {}): TestDraft {
  const data = { status: 'cancelled', reason: 'operator', graceUntil: later, steering: 'inherit', ...extra } as const
  return { type: 'task.cancelling', task, data }
}

export function quiescing(task: string, ...calls: string[]): TestDraft {
  return { type: 'task.quiescing', task, data: { calls } }
}

export function ended(type: TerminalType, task: string, extra: Partial<FactData['task.completed']> = {}): TestDraft {
  const usage = { input: 60, output: 40, total: 100 }
  return { type, task, data: { usage, steps: 0, calls: noCalls, pendingSteering: [], ...extra } }
}

export function steered(task: string, message: string, mode: 'boundary' | 'interrupt' = 'boundary'): TestDraft {
  return { type: 'steering.queued', task, data: { message, digest, bytes: 5, mode } }
}

export function applied(task: string, step: number, ...messages: string[]): TestDraft[] {
  const users = messages.map((message) => said(task, 'user', { message }))
  return [{ type: 'steering.applied', task, data: { messages, step } }, ...users]
}

export function inherited(task: string, from: string, ...messages: string[]): TestDraft {
  return { type: 'steering.inherited', task, data: { messages, from } }
}

export function expired(task: string | null, ...messages: string[]): TestDraft {
  return { type: 'steering.expired', task, data: { messages, reason: 'no heir' } }
}

/** The facts that begin a turn with its first request. */
export function turn(task: string, used = 0): TestDraft[] {
  return [created(task), started(task), said(task, 'user'), ...asks(task, 0, used)]
}
