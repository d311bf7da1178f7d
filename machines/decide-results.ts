import type { AgendaItem } from './agenda.ts'
import type { CallResult, CallReturn } from './commands.ts'
import type { Standstill } from './task-context.ts'
import type { TaskId, Time } from './vocabulary.ts'
import type { CallSnapshot, World } from './world.ts'

/** What the return of an attempt leads to. Empty: it says nothing that is not already decided, and is dropped. */
export function decideCallResult(world: World, returned: CallResult): readonly AgendaItem[] {
  const call = world.calls.get(returned.call)
  if (call === undefined || call.context.attempts !== returned.attempt) return []
  const { result } = returned
  if (call.value === 'unknown') return late(call, result)
  if (!isRunning(call)) return []
  switch (result.how) {
    case 'returned':
      return [finished(call, returned, 'succeeded')]
    case 'threw':
      if (call.value === 'started' || result.beforeAbort) return [finished(call, returned, 'failed')]
      return call.value === 'verifying' ? [] : [uncertain(call)]
    case 'lost':
      return lost(call, returned, isInterrupting(world, call))
    case 'acknowledged':
      return call.value === 'started' ? [] : [acknowledged(call)]
    case 'paused':
      return call.value === 'started' ? held(call, result, isInterrupting(world, call)) : [acknowledged(call)]
  }
}

/** An interrupting steer waits: nothing of the batch starts again. */
function isInterrupting(world: World, call: CallSnapshot): boolean {
  return world.tasks.get(call.context.task)?.context.interrupting === true
}

function isRunning(call: CallSnapshot): boolean {
  return call.value === 'started' || call.value === 'aborting' || call.value === 'verifying'
}

function finished(call: CallSnapshot, returned: CallResult, outcome: 'succeeded' | 'failed'): AgendaItem {
  const result = returned.result
  if (result.how !== 'returned' && result.how !== 'threw' && result.how !== 'lost') return acknowledged(call)
  const data = {
    outcome,
    digest: result.digest,
    bytes: result.bytes,
    durationMs: returned.durationMs,
    ...(result.how === 'returned' ? {} : { code: result.code }),
    ...(result.how === 'returned' && result.tree !== undefined ? { tree: result.tree } : {}),
  }
  return { type: 'call.finished', task: call.context.task, call: call.context.id, data }
}

/** Only a read and an idempotent call may be tried again, and not for ever. */
function lost(call: CallSnapshot, returned: CallResult, interrupting: boolean): readonly AgendaItem[] {
  const { effect, id, task, attempts } = call.context
  if (call.value === 'verifying') return []
  if (call.value === 'aborting') return [uncertain(call)]
  if (effect === 'mutate') return [{ ask: 'settleUncertain', task, call: id, reason: 'transport' }]
  if (interrupting) return [{ ask: 'settleUncertain', task, call: id, reason: 'transport' }]
  // An idempotent call may have changed something with any of its attempts; only a read that never answered has just failed.
  if (attempts >= returned.maxAttempts)
    return effect === 'read'
      ? [finished(call, returned, 'failed')]
      : [{ ask: 'settleUncertain', task, call: id, reason: 'transport' }]
  return [{ type: 'call.interrupted', task, call: id, data: { attempt: attempts } }]
}

function uncertain(call: CallSnapshot): AgendaItem {
  return { ask: 'settleUncertain', task: call.context.task, call: call.context.id, reason: 'unacknowledged' }
}

function acknowledged(call: CallSnapshot): AgendaItem {
  const { id, task } = call.context
  return { type: 'call.cancelled', task, call: id, data: { when: 'acknowledged' } }
}

function held(
  call: CallSnapshot,
  result: Extract<CallReturn, { how: 'paused' }>,
  interrupting: boolean,
): readonly AgendaItem[] {
  const { id, task } = call.context
  const { token, reason, deadline, subject } = result
  const data = {
    token,
    reason,
    ...(deadline === undefined ? {} : { deadline }),
    ...(subject === undefined ? {} : { subject }),
  }
  return [
    { type: 'pause.requested', task, call: id, data },
    { type: 'call.held', task, call: id, data: { reason, token } },
    interrupting ? { ask: 'settleUnstarted', task, why: 'withdrawn' } : { ask: 'restIfIdle', task },
  ]
}

function late(call: CallSnapshot, result: CallReturn): readonly AgendaItem[] {
  if (result.how === 'acknowledged' || result.how === 'paused') return []
  const outcome = result.how === 'returned' ? 'succeeded' : 'failed'
  return [
    {
      type: 'call.late',
      task: call.context.task,
      call: call.context.id,
      data: { outcome, digest: result.digest },
    },
  ]
}

/** The probe has answered. Nothing, when the outcome came by itself meanwhile. */
export function decideVerified(
  world: World,
  call: string,
  verdict: { outcome: 'succeeded' | 'failed' | 'unknown'; digest?: string; bytes?: number; durationMs: number },
): readonly AgendaItem[] {
  const snapshot = world.calls.get(call)
  if (snapshot === undefined || snapshot.value !== 'verifying') return []
  const { outcome, digest, bytes, durationMs } = verdict
  const { task } = snapshot.context
  const verified: AgendaItem = {
    type: 'call.verified',
    task,
    call,
    data: { outcome, ...(digest === undefined ? {} : { digest }) },
  }
  if (outcome === 'unknown' || digest === undefined) return [verified, giveUp(snapshot, task)]
  const data = { outcome, digest, bytes: bytes ?? 0, durationMs, ...(outcome === 'failed' ? { code: 'VERIFIED' } : {}) }
  return [verified, { type: 'call.finished', task, call, data }]
}

function giveUp(call: CallSnapshot, task: TaskId): AgendaItem {
  const reason =
    call.context.aborted === 'deadline' ? 'deadline' : call.context.aborted === 'cancel' ? 'grace' : 'crash'
  return { type: 'call.unknown', task, call: call.context.id, data: { reason } }
}

/** A timer has told that time has passed; what is due by the stored deadlines. Earliest first. */
export function decideDue(world: World, now: Time, moved: Moved): readonly AgendaItem[] {
  return deadlines(world, moved)
    .filter((deadline) => deadline.at <= now)
    .map((deadline) => deadline.item)
}

export function nextDeadline(world: World, moved: Moved): Time | null {
  return deadlines(world, moved)[0]?.at ?? null
}

/** A deadline, later by the length of the standstills: arithmetic on times is the caller's. */
type Moved = (deadline: Time, standstills: readonly Standstill[]) => Time

interface Deadline {
  readonly at: Time
  readonly item: AgendaItem
}

function deadlines(world: World, moved: Moved): readonly Deadline[] {
  const found: Deadline[] = []
  for (const [task, snapshot] of world.tasks) {
    const { context } = snapshot
    if (context.retryAt !== null && snapshot.matches({ running: { boundary: 'waiting' } }))
      found.push({ at: context.retryAt, item: { ask: 'continueTurn', task } })
    if (context.deadline !== null && snapshot.matches('running') && context.heldAt === null)
      found.push({
        at: context.standstills.length === 0 ? context.deadline : moved(context.deadline, context.standstills),
        item: { ask: 'failTask', task, code: 'BUDGET_EXCEEDED', reason: 'the bound turnMs is reached' },
      })
    for (const [call, entry] of Object.entries(context.calls))
      if (entry.until !== null) found.push({ at: entry.until, item: { ask: 'expireCall', task, call } })
    for (const [token, pause] of Object.entries(context.pauses))
      if (pause.deadline !== null) found.push({ at: pause.deadline, item: { ask: 'expirePause', task, token } })
    if (context.awaiting?.deadline != null)
      found.push({
        at: context.awaiting.deadline,
        item: { ask: 'settleAwait', task, how: 'deadline' },
      })
  }
  return found.length < 2 ? found : found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}
