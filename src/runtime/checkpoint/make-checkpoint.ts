import { viewOf } from '../../../machines/message-reducers.ts'
import { isMessage, isSummary, type MessageRecord, type View, type ViewEntry } from '../../../machines/view.ts'
import type { TaskSnapshot, World } from '../../../machines/world.ts'
import { canonicalJson } from '../../facts/digest.ts'
import { LandfallError } from '../../facts/errors.ts'
import type { Limits } from '../../facts/limits.ts'
import type { Scope } from '../../facts/scope.ts'
import type { Bodies } from '../bodies.ts'
import { needed } from '../expand-messages.ts'
import {
  type Checkpoint,
  type CheckpointEntry,
  type CheckpointMessage,
  checkpointVersion,
} from './checkpoint-schema.ts'
import { depthOf, digestOfCheckpoint } from './parse-checkpoint.ts'

/** A session at one fact, with the content that its view, its queue and its memory rest on. */
export interface CheckpointSource {
  readonly scope: Scope
  readonly world: World
  readonly bodies: Bodies
  /** Whole outputs of observations and notes by their keys: what no step needs in memory. */
  readonly wholes: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
  readonly hash: string
  readonly limits: Limits
  readonly next: Checkpoint['next']
}

type SessionContext = NonNullable<World['session']>['context']

/** The whole document, bounded, with its digest. Detached from everything that lives. */
export function makeCheckpoint(source: CheckpointSource): Checkpoint {
  const { world, bodies } = source
  const session = needed(world.session, 'session').context
  const view = viewOf(world, session.active ?? '')
  const { model, system, limits, budget, context: policy } = session.settings
  const record = world.taskRecords.get(session.active ?? session.last?.task ?? '')
  const taskSystem = record?.started == null ? system : record.started.system
  const document: Omit<Checkpoint, 'digest'> = {
    kind: 'landfall.checkpoint',
    version: checkpointVersion,
    identity: {
      ...source.scope,
      title: session.title,
      task: record?.run == null ? null : record.id,
      run: record?.run ?? null,
      phase: phaseOf(world, session),
      turns: session.turns,
    },
    history: { revision: world.seq, hash: source.hash, messages: messagesOf(source, view) },
    model: record?.started?.model ?? model,
    system: taskSystem === null ? null : needed(bodies.systems.get(taskSystem), 'system text'),
    settings: { limits: { ...limits }, turn: record?.started?.settings ?? null },
    accounting: { usage: world.usage, used: world.used, reserved: reservedBy(world) },
    control: controlOf(source, session, view),
    context: { view: view.entries.map((entry) => entryOf(bodies, entry)), episodes: episodesOf(world), policy, budget },
    memory: [...world.memory.keys()].map((key) => ({
      key: needed(source.keys.get(key), 'key of a note'),
      value: JSON.parse(needed(bodies.memory.get(key), 'note')),
    })),
    next: source.next,
  }
  return finished(document, source.limits)
}

function finished(document: Omit<Checkpoint, 'digest'>, limits: Limits): Checkpoint {
  const text = canonicalJson(document)
  const got = Buffer.byteLength(text)
  if (got > limits.checkpointBytes) throw beyond('checkpointBytes', limits.checkpointBytes, got)
  const depth = depthOf(text)
  if (depth > limits.checkpointDepth) throw beyond('checkpointDepth', limits.checkpointDepth, depth)
  const plain = JSON.parse(text) as Omit<Checkpoint, 'digest'>
  return { ...plain, digest: digestOfCheckpoint(plain) }
}

function beyond(which: string, bound: number, got: number): LandfallError {
  return new LandfallError(
    'LIMIT_EXCEEDED',
    'The session is larger than a checkpoint may be. Let it be compacted first.',
    {
      details: { which, bound, got },
    },
  )
}

function phaseOf(world: World, { active, slot, queue, turns }: SessionContext): Checkpoint['identity']['phase'] {
  const snapshot = active === null ? undefined : world.tasks.get(active)
  if (snapshot !== undefined) return phaseOfTask(snapshot)
  if (slot !== null || queue.length > 0) return 'queued'
  return turns === 0 ? 'new' : 'finished'
}

function phaseOfTask(snapshot: TaskSnapshot): Checkpoint['identity']['phase'] {
  if (snapshot.matches({ running: 'requesting' }))
    return snapshot.context.request?.purpose === 'summary' ? 'summary' : 'model'
  if (snapshot.matches({ running: 'boundary' })) return 'boundary'
  if (snapshot.matches({ running: 'acting' })) return 'acting'
  if (snapshot.matches({ running: 'awaiting' })) return 'awaiting'
  if (snapshot.matches('paused')) return 'paused'
  return snapshot.matches('cancelling') ? 'cancelling' : 'quiescing'
}

function messagesOf({ bodies, wholes }: CheckpointSource, view: View): CheckpointMessage[] {
  return view.entries.filter(isMessage).map((record) => {
    const { id, role, forCall, synthetic } = record
    const { content, toolCalls } = wholeOf(record, bodies, wholes)
    return {
      id,
      role,
      content,
      ...(toolCalls === undefined ? {} : { toolCalls: toolCalls as CheckpointMessage['toolCalls'] }),
      ...(forCall === null ? {} : { forCall }),
      ...(synthetic ? { synthetic: true as const } : {}),
    } as CheckpointMessage
  })
}

function wholeOf(record: MessageRecord, bodies: Bodies, wholes: ReadonlyMap<string, string>) {
  if (record.observed) return { content: needed(wholes.get(record.id), 'observation'), toolCalls: undefined }
  return needed(bodies.messages.get(record.id), 'message')
}

function entryOf(bodies: Bodies, entry: ViewEntry): CheckpointEntry {
  if (isSummary(entry))
    return { summary: { version: entry.version, text: needed(bodies.summaries.get(entry.digest), 'summary') } }
  if (!isMessage(entry)) {
    const quotes = entry.kept.map(({ digest }) => needed(bodies.quotes.get(digest), 'quoted message'))
    return { note: { count: entry.count, quotes } }
  }
  const { id, rank, episode, observed } = entry
  return {
    message: id,
    rank,
    ...(episode === null ? {} : { episode }),
    ...(observed ? { observed: true as const } : {}),
  }
}

function controlOf({ world, bodies }: CheckpointSource, session: SessionContext, view: View): Checkpoint['control'] {
  const record = world.taskRecords.get(session.active ?? '')
  const seen = new Set<string>(session.quarantine)
  for (const entry of view.entries) {
    if (!isMessage(entry)) continue
    for (const { call } of entry.toolCalls) seen.add(call)
    if (entry.forCall !== null) seen.add(entry.forCall)
  }
  for (const call of Object.keys(world.tasks.get(session.active ?? '')?.context.calls ?? {})) seen.add(call)
  return {
    seenCalls: [...seen],
    grants: { ...record?.grants },
    warnings: [...world.warned],
    steering: [...world.steering.keys()].map((id) => ({ id, content: needed(bodies.steering.get(id), 'steering') })),
    quarantine: [...session.quarantine],
    queue: queueOf(world, bodies, session),
    pauses: [...world.tasks].flatMap(([task, { context }]) =>
      Object.values(context.pauses).map(({ reason, call, deadline }) => ({ reason, task, call, deadline })),
    ),
    background: backgroundOf(world, session),
  }
}

/** Work beside the turns that lives, or whose result the next turn has still to be told of. */
function backgroundOf(world: World, { tasks }: SessionContext): string[] {
  return [...Object.keys(tasks).filter((task) => tasks[task]?.kind === 'background'), ...world.unoffered]
}

function queueOf(world: World, bodies: Bodies, { slot, queue }: SessionContext): Checkpoint['control']['queue'] {
  const waiting = [...(slot === null ? [] : [{ task: slot, requires: 'none' as const, blocked: false }]), ...queue]
  return waiting.map(({ task, requires, blocked }) => {
    if (!world.taskRecords.has(task)) throw new TypeError('a queued task has no record')
    return { task, requires, blocked, input: needed(bodies.inputs.get(task), 'input') }
  })
}

function episodesOf(world: World): Checkpoint['context']['episodes'] {
  return [...world.episodes].map(([id, { kind, basedOn, concludedBy }]) => ({
    id,
    kind,
    basedOn: [...basedOn],
    concludedBy,
  }))
}

function reservedBy(world: World): number {
  return [...world.reserved.values()].reduce((sum, { reserved }) => sum + reserved, 0)
}
