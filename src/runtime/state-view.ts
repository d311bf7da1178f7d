import type { FactData } from '../../machines/facts.ts'
import type { Grant, Origin, Requirement, Status, TaskKind, Usage } from '../../machines/vocabulary.ts'
import type { CallSnapshot, TaskRecord, TaskSnapshot, World } from '../../machines/world.ts'
import { type GroupView, groupsOf } from './group-reads.ts'

export type TaskState = 'queued' | 'blocked' | 'running' | 'paused' | 'cancelling' | 'quiescing' | 'terminal'

export interface TaskView {
  readonly id: string
  readonly kind: TaskKind
  readonly origin: Origin
  readonly state: TaskState
  readonly status?: Status
  readonly requires: Requirement
  readonly predecessor?: string
  readonly parent?: string
  readonly group?: string
  /** What a tool of a background task told last, while it lives. */
  readonly progress?: FactData['task.progress']
  /** seq of its creation. */
  readonly seq: number
}

/** The folded state as plain JSON. */
export interface SessionState {
  readonly seq: number
  readonly session: { readonly value: unknown; readonly context: unknown }
  readonly tasks: readonly (TaskView & { readonly value?: unknown; readonly context?: unknown })[]
  readonly calls: readonly { readonly id: string; readonly value: unknown; readonly context: unknown }[]
  readonly groups: readonly GroupView[]
  readonly queue: readonly string[]
  readonly steering: readonly string[]
  readonly grants: { readonly [task: string]: { readonly [id: string]: Grant } }
  readonly context: { readonly messages: number }
  readonly budget: {
    readonly used: number
    readonly reserved: number
    readonly limit: number | null
    readonly usage: Usage
  }
  readonly quarantined: readonly string[]
}

export function tasksOf(world: World): readonly TaskView[] {
  return [...world.taskRecords.values()].map((record) => taskView(world, record))
}

function taskView(world: World, record: TaskRecord): TaskView {
  const { kind, origin, requires, predecessor, parent, group } = record.created
  return {
    id: record.id,
    kind,
    origin,
    state: taskState(world.tasks.get(record.id)),
    ...(record.ended === null ? {} : { status: record.ended.status }),
    requires,
    ...(predecessor === undefined ? {} : { predecessor }),
    ...(parent === undefined ? {} : { parent }),
    ...(group === undefined ? {} : { group }),
    ...(record.progress === null ? {} : { progress: record.progress }),
    seq: record.createdSeq,
  }
}

function taskState(snapshot: TaskSnapshot | undefined): TaskState {
  if (snapshot === undefined) return 'terminal'
  if (snapshot.matches({ pending: 'blocked' })) return 'blocked'
  if (snapshot.matches('pending')) return 'queued'
  if (snapshot.matches('running')) return 'running'
  if (snapshot.matches('paused')) return 'paused'
  return snapshot.matches('cancelling') ? 'cancelling' : 'quiescing'
}

export function stateOf(world: World): SessionState {
  const session = world.session
  const reserved = [...world.reserved.values()].reduce((sum, { reserved: tokens }) => sum + tokens, 0)
  return plain({
    seq: world.seq,
    session: { value: session?.value, context: session?.context },
    tasks: [...world.taskRecords.values()].map((record) => taskWithChart(world, record)),
    calls: [...world.calls].map(([id, snapshot]) => callWithChart(id, snapshot)),
    groups: groupsOf(world),
    queue: (session?.context.queue ?? []).map((entry) => entry.task),
    steering: [...world.steering.keys()],
    grants: Object.fromEntries([...world.tasks.keys()].map((id) => [id, world.taskRecords.get(id)?.grants ?? {}])),
    context: { messages: world.messageCount },
    budget: {
      used: world.used,
      reserved,
      limit: session?.context.settings.budget?.tokens ?? null,
      usage: world.usage,
    },
    quarantined: session?.context.quarantine ?? [],
  })
}

function taskWithChart(world: World, record: TaskRecord): SessionState['tasks'][number] {
  const snapshot = world.tasks.get(record.id)
  const view = taskView(world, record)
  return snapshot === undefined ? view : { ...view, value: snapshot.value, context: snapshot.context }
}

function callWithChart(id: string, snapshot: CallSnapshot): SessionState['calls'][number] {
  return { id, value: snapshot.value, context: snapshot.context }
}

/** Detached from the live state, and JSON in every part. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
