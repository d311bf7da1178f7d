import type { Fact, FactOf } from './facts.ts'
import { type CallEntry, type CallOutcome, isHeldOnly, noSummaries, type TaskContext } from './task-context.ts'
import { type CallCounts, isPlannerTool, type Time, type Usage } from './vocabulary.ts'

/** How one accepted fact changes what a task knows. Pure; which facts are accepted in which state is the chart's business. */
export function foldTask(context: TaskContext, fact: Fact): TaskContext {
  if (fact.task !== context.id && fact.task !== null) return foldDescendant(context, fact)
  return { ...context, ...changes(context, fact), seq: fact.seq }
}

function foldDescendant(context: TaskContext, fact: Fact): TaskContext {
  const task = fact.task ?? ''
  if (fact.type === 'task.created')
    return { ...context, descendants: { ...context.descendants, [task]: true }, seq: fact.seq }
  const { [task]: _ended, ...descendants } = context.descendants
  return { ...context, descendants, seq: fact.seq }
}

function changes(context: TaskContext, fact: Fact): Partial<TaskContext> {
  switch (fact.type) {
    case 'task.unblocked':
      return { requires: 'none' }
    case 'task.input_replaced':
      return { watermark: fact.data.watermark }
    case 'task.started':
      return { deadline: fact.data.deadline ?? null }
    case 'run.resumed':
      return { resumptions: context.resumptions + 1 }
    case 'task.cancelling':
      return { barrier: barrierOf(fact), interrupting: false, retryAt: null }
    case 'task.awaiting':
      return { awaiting: awaitOf(fact) }
    case 'task.await_settled':
      return { awaiting: null }
    case 'task.paused':
      return { pausedAt: fact.at, ...goesOn(context, fact.at) }
    case 'task.resumed': {
      const heldAt = isHeldOnly(context.calls) ? fact.at : null
      return { pausedAt: null, heldAt, deadline: fact.data.deadline ?? context.deadline }
    }
    default:
      return fact.call === null ? taskChanges(context, fact) : callChanges(context, fact)
  }
}

function taskChanges(context: TaskContext, fact: Fact): Partial<TaskContext> {
  switch (fact.type) {
    case 'steering.queued': {
      const interrupting = context.interrupting || fact.data.mode === 'interrupt'
      return { steering: [...context.steering, fact.data.message], interrupting }
    }
    case 'steering.inherited':
      return { steering: [...context.steering, ...fact.data.messages] }
    case 'steering.applied': {
      const applied = new Set(fact.data.messages)
      return { steering: context.steering.filter((message) => !applied.has(message)), interrupting: false }
    }
    case 'pause.requested':
    case 'pause.settled':
      return pauseChanges(context, fact)
    default:
      return modelChanges(context, fact)
  }
}

function modelChanges(context: TaskContext, fact: Fact): Partial<TaskContext> {
  switch (fact.type) {
    case 'model.requested': {
      const { purpose, attempt, deadline } = fact.data
      const turn = purpose === 'turn'
      const summaries = turn ? noSummaries : { asked: context.summaries.asked + 1, done: false }
      const attempts = turn ? attempt : context.attempts
      return { request: { purpose, deadline }, attempts, summaries, retryAt: null, answered: false, calls: {} }
    }
    case 'model.completed':
      return answerChanges(context, fact)
    case 'model.failed': {
      const usage = fact.data.usage === undefined ? context.usage : addUsage(context.usage, fact.data.usage)
      return { request: null, retryAt: fact.data.retryAt ?? null, usage, ...summaryEnded(context) }
    }
    case 'model.abandoned': {
      // A request that an operator's interrupt cut off has not failed: it is none of the attempts that are bounded.
      const attempts = fact.data.reason === 'interrupted' ? 0 : context.attempts
      // A summary that came too late is not waited for again in this round; one that was lost in a crash is asked again.
      const summary = fact.data.reason === 'deadline' ? summaryEnded(context) : {}
      return { request: null, attempts, usage: addUsage(context.usage, fact.data.charged), ...summary }
    }
    default:
      return {}
  }
}

/** Once a round: whatever came of it, none is asked for again before the next turn request. */
function summaryEnded({ request, summaries }: TaskContext): Partial<TaskContext> {
  return request?.purpose === 'summary' ? { summaries: { ...summaries, done: true } } : {}
}

function answerChanges(context: TaskContext, fact: FactOf<'model.completed'>): Partial<TaskContext> {
  const usage = addUsage(context.usage, fact.data.usage)
  if (context.request?.purpose === 'summary') return { request: null, usage, ...summaryEnded(context) }
  const calls: Record<string, CallEntry> = {}
  fact.data.calls.forEach((call, index) => {
    const entry = newEntry(call.name, `${call.name}\u0000${call.arguments}`, index)
    calls[call.call] = isPlannerTool(call.name) ? { ...entry, phase: 'settled', outcome: 'succeeded' } : entry
  })
  const counts = { ...context.counts, total: context.counts.total + fact.data.calls.length }
  const answered = fact.data.calls.length === 0
  return { request: null, usage, calls, counts, answered, step: context.step + 1, attempts: 0 }
}

function newEntry(name: string, key: string, index: number): CallEntry {
  return {
    name,
    key,
    effect: null,
    index,
    phase: 'requested',
    hold: null,
    token: null,
    approved: false,
    attempts: 0,
    interrupted: false,
    until: null,
    outcome: null,
  }
}

function pauseChanges(
  context: TaskContext,
  fact: FactOf<'pause.requested'> | FactOf<'pause.settled'>,
): Partial<TaskContext> {
  const { token } = fact.data
  if (fact.type === 'pause.requested') {
    const { reason, deadline, subject } = fact.data
    const pause = { reason, call: fact.call, deadline: deadline ?? null, subject: subject ?? null, seq: fact.seq }
    return { pauses: { ...context.pauses, [token]: pause } }
  }
  const { [token]: settled, ...pauses } = context.pauses
  const entry = settled?.call == null ? undefined : context.calls[settled.call]
  if (settled?.call == null || entry === undefined) return { pauses }
  const granted = fact.data.decision === 'approve' || fact.data.decision === 'resume'
  const changed = { ...entry, approved: entry.approved || granted, token: null }
  const confirmed =
    granted && settled.reason === 'approval' ? { ...context.confirmed, [entry.name]: true as const } : context.confirmed
  return { pauses, confirmed, calls: { ...context.calls, [settled.call]: changed } }
}

function callChanges(context: TaskContext, fact: Fact): Partial<TaskContext> {
  if (fact.type === 'pause.requested' || fact.type === 'pause.settled') return pauseChanges(context, fact)
  const call = fact.call ?? ''
  const entry = context.calls[call]
  if (entry === undefined) return {}
  const outcome = outcomeOf(fact)
  if (outcome === null) {
    const calls = { ...context.calls, [call]: { ...entry, ...entryChanges(entry, fact) } }
    return { calls, ...clockChanges(context, calls, fact) }
  }
  const settled: CallEntry = { ...entry, phase: 'settled', outcome, token: null, until: null }
  const calls = { ...context.calls, [call]: settled }
  return {
    calls,
    ...clockChanges(context, calls, fact),
    counts: count(context.counts, settled, outcome),
    streak: streakAfter(context.streak, settled, fact),
  }
}

/** When a running task's time stands still: while only holds remain. The time of a pause is counted by the pause itself. */
function clockChanges(context: TaskContext, calls: TaskContext['calls'], fact: Fact): Partial<TaskContext> {
  if (context.pausedAt !== null) return {}
  const held = isHeldOnly(calls)
  if (held === (context.heldAt !== null)) return {}
  return held ? { heldAt: fact.at } : goesOn(context, fact.at)
}

function goesOn({ heldAt, standstills }: TaskContext, at: Time): Partial<TaskContext> {
  if (heldAt === null || heldAt === at) return { heldAt: null }
  return { heldAt: null, standstills: [...standstills, { from: heldAt, to: at }] }
}

function entryChanges(entry: CallEntry, fact: Fact): Partial<CallEntry> {
  switch (fact.type) {
    case 'call.requested':
      return { effect: fact.data.effect ?? null }
    case 'call.held':
      return { phase: 'held', hold: fact.data.reason, token: fact.data.token ?? null, until: null }
    case 'call.started': {
      const until = fact.data.deadline ?? null
      return { phase: 'started', hold: null, token: null, approved: false, attempts: fact.data.attempt, until }
    }
    case 'call.interrupted':
      return { phase: 'requested', interrupted: true, until: null }
    case 'call.aborting':
      return { phase: 'aborting', until: fact.data.graceUntil }
    case 'call.verifying':
      return { phase: 'verifying', until: fact.data.deadline }
    default:
      return { phase: entry.phase }
  }
}

function outcomeOf(fact: Fact): CallOutcome | null {
  switch (fact.type) {
    case 'call.refused':
      return 'refused'
    case 'call.finished':
      return fact.data.outcome
    case 'call.cancelled':
      return 'cancelled'
    case 'call.unknown':
      return 'unknown'
    default:
      return null
  }
}

function count(counts: CallCounts, entry: CallEntry, outcome: CallOutcome): CallCounts {
  const mutates = entry.effect === 'mutate'
  return {
    total: counts.total,
    failed: counts.failed + (outcome === 'failed' ? 1 : 0),
    succeededMutating: counts.succeededMutating + (outcome === 'succeeded' && mutates ? 1 : 0),
    unknownMutating: counts.unknownMutating + (outcome === 'unknown' && mutates ? 1 : 0),
    cancelled: counts.cancelled + (outcome === 'cancelled' ? 1 : 0),
  }
}

/** Three consecutive identical denials or failures end a task, whatever else of the batch comes back later. */
export const streakLimit = 3

/** Any other outcome begins anew. */
function streakAfter(streak: TaskContext['streak'], entry: CallEntry, fact: Fact): TaskContext['streak'] {
  if (streak !== null && streak.count >= streakLimit) return streak
  const kind = fact.type === 'call.refused' ? 'denial' : entry.outcome === 'failed' ? 'failure' : null
  if (kind === null) return null
  const code = fact.type === 'call.refused' || fact.type === 'call.finished' ? (fact.data.code ?? '') : ''
  const key = `${entry.key}\u0000${code}`
  const same = streak !== null && streak.kind === kind && streak.key === key
  return { kind, key, count: same ? streak.count + 1 : 1 }
}

function awaitOf({ data }: FactOf<'task.awaiting'>): TaskContext['awaiting'] {
  return { tasks: data.tasks ?? [], group: data.group ?? null, deadline: data.deadline ?? null }
}

function barrierOf(fact: FactOf<'task.cancelling'>): TaskContext['barrier'] {
  const { status, reason, code, graceUntil, steering, replacement, cascadedFrom } = fact.data
  return {
    status,
    reason,
    graceUntil,
    steering,
    ...(code === undefined ? {} : { code }),
    ...(replacement === undefined ? {} : { replacement }),
    ...(cascadedFrom === undefined ? {} : { cascadedFrom }),
  }
}

export function addUsage(left: Usage, right: Usage): Usage {
  const cached = (left.cached ?? 0) + (right.cached ?? 0)
  const reasoning = (left.reasoning ?? 0) + (right.reasoning ?? 0)
  return {
    input: left.input + right.input,
    output: left.output + right.output,
    total: left.total + right.total,
    ...(cached > 0 ? { cached } : {}),
    ...(reasoning > 0 ? { reasoning } : {}),
    ...(left.estimated || right.estimated ? { estimated: true as const } : {}),
  }
}
