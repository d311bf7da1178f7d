import { reduceEpisode, withCapability } from './capability-reducers.ts'
import type { Fact, FactOf } from './facts.ts'
import type { TerminalData } from './facts-of-work.ts'
import { reduceMemory } from './memory-reducer.ts'
import { reduceCheckpoint, reduceCompaction, reduceMessage, reduceSelection } from './message-reducers.ts'
import { reduceRestored } from './restored-reducers.ts'
import { endedStatus } from './session-context.ts'
import { addUsage } from './task-fold.ts'
import type { Status, Usage } from './vocabulary.ts'
import { reduceAwait, reduceQuestion } from './wait-reducers.ts'
import type { CallRecord, TaskEnd, TaskRecord, World } from './world.ts'

/** What is known beside the charts: records, conversation, receipts, budget. Runs after every chart has accepted the fact. */
export function reduce(world: World, fact: Fact): void {
  if (fact.call !== null && fact.type.startsWith('call.')) reduceCall(world, fact)
  switch (fact.type) {
    case 'message.added':
      return reduceMessage(world, fact)
    case 'context.checkpoint':
      return reduceCheckpoint(world, fact)
    case 'context.compacted':
      return reduceCompaction(world, fact)
    case 'task.started':
      reduceTask(world, fact)
      return reduceSelection(world, fact)
    case 'episode.started':
    case 'episode.ended':
      return reduceEpisode(world, fact)
    case 'steering.queued': {
      const { message, digest, bytes } = fact.data
      world.steering.set(message, { message, digest, bytes, step: fact.step })
      return
    }
    case 'steering.applied':
    case 'steering.expired':
      for (const message of fact.data.messages) world.steering.delete(message)
      return
    case 'pause.requested':
      return reduceQuestion(world, fact)
    case 'pause.settled':
      world.settledPauses.add(fact.data.token)
      reduceQuestion(world, fact)
      return reduceDecision(world, fact)
    case 'command.accepted':
      return reduceReceipt(world, fact)
    case 'session.restored':
      return reduceRestored(world, fact)
    case 'memory.put':
    case 'memory.removed':
    case 'session.erased':
      return reduceMemory(world, fact)
    case 'task.awaiting':
    case 'task.await_settled':
      return reduceAwait(world, fact)
    case 'result.offered':
      world.unoffered.delete(fact.data.from)
      return
    case 'budget.warning':
      if (fact.data.percent !== undefined) world.warned.add(fact.data.percent)
      return
    default:
      reduceTask(world, fact)
      reduceBudget(world, fact)
  }
}

function reduceTask(world: World, fact: Fact): void {
  const task = fact.task
  if (task === null) return
  if (fact.type === 'task.created') {
    world.taskRecords.set(task, newRecord(fact, task))
    reduceKey(world, fact, task)
    return
  }
  const record = world.taskRecords.get(task)
  if (record === undefined) return
  const status = endedStatus(fact)
  if (status !== null) {
    world.taskRecords.set(task, {
      ...record,
      started: null,
      grants: {},
      used: [],
      loaded: [],
      active: [],
      episode: null,
      said: null,
      progress: null,
      ended: endOfTask(record, fact, status),
    })
    if (outlives(world, record)) world.unoffered.add(task)
    if (record.created.kind === 'foreground' && record.run !== null) world.lastEnd = fact.seq
    world.tasks.delete(task)
    world.unanswered.delete(task)
    world.waits.delete(task)
    world.ownViews.delete(task)
    world.reserved.delete(task)
    return
  }
  const changed = changedRecord(world, record, fact)
  if (changed !== record) world.taskRecords.set(task, changed)
}

function endOfTask(record: TaskRecord, fact: Fact, status: Status): TaskEnd {
  const data = fact.data as TerminalData
  return {
    status,
    seq: fact.seq,
    at: fact.at,
    calls: data.calls,
    messageId: data.messageId ?? null,
    used: record.used,
    result: status === 'completed' ? record.said : null,
  }
}

/** A background task whose parent has ended before it: nobody can wait for it any more. */
function outlives(world: World, { created }: TaskRecord): boolean {
  return created.parent !== undefined && world.taskRecords.get(created.parent)?.ended != null
}

function reduceKey(world: World, { data }: FactOf<'task.created'>, task: string): void {
  if (data.idempotencyKey !== undefined) world.keys.set(data.idempotencyKey, { task, request: data.request })
}

function newRecord(fact: FactOf<'task.created'>, id: string): TaskRecord {
  const { input, bytes } = fact.data
  return {
    id,
    created: fact.data,
    createdSeq: fact.seq,
    input: { digest: input, step: fact.step, bytes },
    turn: -1,
    run: null,
    started: null,
    startedAt: null,
    lastAnswer: null,
    used: [],
    said: null,
    progress: null,
    loaded: [],
    active: [],
    episode: null,
    toolBytes: 0,
    grants: fact.data.grants ?? {},
    ended: null,
  }
}

function changedRecord(world: World, record: TaskRecord, fact: Fact): TaskRecord {
  switch (fact.type) {
    case 'task.started': {
      const foreground = record.created.kind === 'foreground'
      const turn = foreground ? (world.session?.context.turns ?? 1) - 1 : -1
      return { ...record, turn, run: fact.run, started: fact.data, startedAt: fact.at, grants: fact.data.grants }
    }
    case 'task.input_replaced': {
      const { input, bytes, watermark: _, ...changes } = fact.data
      const created = { ...record.created, ...changes, input, bytes, requires: 'none' as const }
      return { ...record, created, input: { digest: input, step: fact.step, bytes } }
    }
    case 'task.progress':
      return { ...record, progress: fact.data }
    case 'task.unblocked':
      return { ...record, created: { ...record.created, requires: 'none' } }
    default:
      return withCapability(record, fact)
  }
}

function reduceCall(world: World, fact: Fact): void {
  const id = fact.call ?? ''
  if (fact.type === 'call.requested') {
    world.callRecords.set(id, newCall(fact, id))
    return
  }
  if (fact.type === 'call.finished' && fact.data.tree !== undefined) world.tree = fact.data.tree
  const record = world.callRecords.get(id)
  if (record !== undefined) world.callRecords.set(id, { ...record, ...callChanges(record, fact) })
}

function newCall(fact: FactOf<'call.requested'>, id: string): CallRecord {
  const { name, effect, ref, idempotencyKey } = fact.data
  return {
    id,
    task: fact.task ?? '',
    name,
    effect: effect ?? null,
    ref: ref ?? null,
    arguments: { digest: fact.data.arguments, step: fact.step },
    idempotencyKey: idempotencyKey ?? null,
    startedAt: null,
    running: false,
    asks: null,
    resumed: null,
    refusal: null,
    cancelled: null,
    unknown: null,
    finished: null,
  }
}

function reduceDecision(world: World, fact: FactOf<'pause.settled'>): void {
  const record = world.callRecords.get(fact.call ?? '')
  const { token, decision, input } = fact.data
  if (record === undefined || record.asks !== token) return
  const resumed = { token, decision, input: input === undefined ? null : { digest: input, step: fact.step } }
  world.callRecords.set(record.id, { ...record, resumed })
}

function callChanges(record: CallRecord, fact: Fact): Partial<CallRecord> {
  switch (fact.type) {
    case 'call.started':
      return { startedAt: fact.at, running: true }
    case 'call.interrupted':
      return { running: false }
    case 'call.held':
      return record.running ? { running: false, asks: fact.data.token ?? null } : {}
    case 'call.refused':
      return { refusal: fact.data.code }
    case 'call.cancelled':
      return { cancelled: fact.data.when }
    case 'call.unknown':
      return { unknown: fact.data.reason }
    case 'call.finished': {
      const { outcome, digest, code } = fact.data
      return { finished: { outcome, digest, step: fact.step, code: code ?? null } }
    }
    default:
      return {}
  }
}

function reduceReceipt(world: World, fact: FactOf<'command.accepted'>): void {
  const { command, name, body, result, target, replacement, superseded } = fact.data
  world.receipts.set(command, {
    name,
    body,
    result,
    target: target ?? null,
    replacement: replacement ?? null,
    superseded: superseded ?? null,
    seq: world.commit.firstSeq,
  })
}

function reduceBudget(world: World, fact: Fact): void {
  switch (fact.type) {
    case 'model.requested':
      world.reserved.set(fact.task ?? '', { reserved: fact.data.reserved, maxOutput: fact.data.maxOutput })
      return
    case 'model.completed':
      return charge(world, fact.task ?? '', fact.data.usage)
    case 'model.failed':
      return charge(world, fact.task ?? '', fact.data.usage)
    case 'model.abandoned':
      return charge(world, fact.task ?? '', fact.data.charged)
  }
}

function charge(world: World, task: string, usage: Usage | undefined): void {
  world.reserved.delete(task)
  if (usage === undefined) return
  world.used += usage.total
  world.usage = addUsage(world.usage, usage)
}
