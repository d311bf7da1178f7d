import { applyCompaction, summaryOf } from './compaction.ts'
import type { FactOf } from './facts.ts'
import { restoredEntry } from './restored-reducers.ts'
import {
  isMessage,
  isSummary,
  type MessageRecord,
  newView,
  rankOfResult,
  ranks,
  type View,
  type ViewEntry,
} from './view.ts'
import { isPlannerTool, type TaskId } from './vocabulary.ts'
import type { TaskRecord, World } from './world.ts'

/** A tool message takes its call out of memory, unless a late result may still come for it. */
export function reduceMessage(world: World, fact: FactOf<'message.added'>): void {
  const { role, toolCalls, forCall, restored } = fact.data
  const task = fact.task ?? ''
  if (restored !== undefined) {
    world.messageCount += 1
    world.sharedView.entries.push(restoredEntry(messageOf(world, fact, task), fact))
    return
  }
  show(world, messageOf(world, fact, task))
  const record = world.taskRecords.get(task)
  if (record !== undefined && role === 'assistant') world.taskRecords.set(task, withAnswer(record, fact))
  if (record !== undefined && role === 'tool')
    world.taskRecords.set(task, { ...record, toolBytes: record.toolBytes + fact.data.bytes })
  if (toolCalls !== undefined && toolCalls.length > 0)
    world.unanswered.set(
      task,
      toolCalls.map((asked) => asked.call),
    )
  if (forCall === undefined) return
  if (world.waits.get(task)?.call === forCall) world.waits.delete(task)
  const left = (world.unanswered.get(task) ?? []).filter((call) => call !== forCall)
  if (left.length === 0) world.unanswered.delete(task)
  else world.unanswered.set(task, left)
  if (world.calls.get(forCall)?.value === 'unknown') return
  world.calls.delete(forCall)
  world.callRecords.delete(forCall)
}

function messageOf(world: World, fact: FactOf<'message.added'>, task: TaskId): MessageRecord {
  const { message, role, digest, bytes, toolCalls, forCall, synthetic } = fact.data
  return {
    id: message,
    seq: fact.seq,
    step: fact.step,
    task,
    role,
    digest,
    bytes,
    toolCalls: toolCalls ?? [],
    forCall: forCall ?? null,
    synthetic: synthetic ?? false,
    rank:
      forCall === undefined
        ? ranks.text
        : rankOfResult(world.callRecords.get(forCall), isPlanned(world, task, forCall)),
    episode: world.taskRecords.get(task)?.episode ?? null,
    observed: false,
  }
}

function isPlanned(world: World, task: TaskId, call: string): boolean {
  return isPlannerTool(world.tasks.get(task)?.context.calls[call]?.name ?? '')
}

function withAnswer(record: TaskRecord, fact: FactOf<'message.added'>): TaskRecord {
  const names = (fact.data.toolCalls ?? []).map((asked) => asked.name).filter((name) => !record.used.includes(name))
  const used = names.length === 0 ? record.used : [...new Set([...record.used, ...names])].sort()
  const { message, digest, bytes } = fact.data
  const said = record.created.kind === 'background' ? { digest, step: fact.step, bytes } : null
  return { ...record, lastAnswer: message, used, said }
}

/** Every foreground message joins the shared view; a task with its own selection sees its own messages there too. */
function show(world: World, message: MessageRecord): void {
  world.messageCount += 1
  if (world.taskRecords.get(message.task)?.created.kind !== 'background') world.sharedView.entries.push(message)
  world.ownViews.get(message.task)?.entries.push(message)
}

/** A start may select a view of its own. */
export function reduceSelection(world: World, fact: FactOf<'task.started'>): void {
  const record = world.taskRecords.get(fact.task ?? '')
  if (record === undefined || seesAll(world, record)) return
  world.ownViews.set(record.id, newView(record.created.kind === 'background' ? [] : visibleTo(world, record)))
}

export function reduceCheckpoint(world: World, { data, step, task }: FactOf<'context.checkpoint'>): void {
  const view = viewOf(world, task ?? '')
  const { summary, version, tailStart } = data
  view.checkpoint = summaryOf(view.entries, { digest: summary, step, version, tailStart })
}

export function reduceCompaction(world: World, { data, task }: FactOf<'context.compacted'>): void {
  const windowTokens = world.session?.context.settings.context.windowTokens ?? 0
  applyCompaction(viewOf(world, task ?? ''), data, { windowTokens, episodes: world.episodes })
}

/** The view that a task's requests show. */
export function viewOf(world: World, task: TaskId): View {
  return world.ownViews.get(task) ?? world.sharedView
}

/** True when everything said so far is visible whole, which is so for every turn that did not wait for another. */
function seesAll(world: World, task: TaskRecord): boolean {
  return task.created.kind === 'foreground' && world.lastEnd <= task.created.watermark
}

/**
 * What a task may see of the conversation, a pure function of the log: turns that had ended at its watermark whole, with their
 * tool traffic; a turn that ended later only as its user messages and its final user-visible message.
 */
function visibleTo(world: World, task: TaskRecord): ViewEntry[] {
  return world.sharedView.entries.filter((entry) => {
    if (isSummary(entry)) return entry.of === null || endedBy(world, entry.of, task.created.watermark)
    if (!isMessage(entry)) return true
    const ended = world.taskRecords.get(entry.task)?.ended
    if (ended == null || ended.seq <= task.created.watermark) return true
    return entry.role === 'user' || entry.id === ended.messageId
  })
}

function endedBy(world: World, task: TaskId, watermark: number): boolean {
  const ended = world.taskRecords.get(task)?.ended
  return ended != null && ended.seq <= watermark
}
