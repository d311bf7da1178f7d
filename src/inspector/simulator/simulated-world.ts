import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { type AgendaItem, isAsk } from '../../../machines/agenda.ts'
import { callMachine } from '../../../machines/call.machine.ts'
import type { Draft, Fact, FactData, FactOf, FactType } from '../../../machines/facts.ts'
import { type Folded, fold } from '../../../machines/fold.ts'
import { groupMachine } from '../../../machines/group.machine.ts'
import { route } from '../../../machines/routing.ts'
import { sessionMachine } from '../../../machines/session.machine.ts'
import { taskMachine } from '../../../machines/task.machine.ts'
import type { View } from '../../../machines/view.ts'
import type { PauseReason, TaskId } from '../../../machines/vocabulary.ts'
import {
  type CallSnapshot,
  emptyWorld,
  type GroupSnapshot,
  type SessionSnapshot,
  type TaskSnapshot,
  type World,
} from '../../../machines/world.ts'
import { goOn, withoutPlayed } from './go-on.ts'
import { sampleDigest, sampleInput, sampleSettings, sampleUsage } from './sample-fact.ts'
import { sampleTime } from './sample-time.ts'

export type ChartKind = 'session' | 'task' | 'call' | 'group'

/**
 * Owns: the world around one chart that is tried out.
 * 1. It holds what the facts of that chart say, and what a runtime would have put around them.
 * 2. The chart that is tried out has the first word: where another one would have refused a fact that it took, the world follows it.
 * 3. `#due` is what a runtime would do next, in the step of the last fact; it begins with a fact that the chart would hear of.
 */
export class SimulatedWorld {
  readonly kind: ChartKind
  readonly world: World
  readonly #id: string
  #due: readonly AgendaItem[] = []

  private constructor(kind: ChartKind, id: string, world: World) {
    this.kind = kind
    this.#id = id
    this.world = world
  }

  static begin(kind: ChartKind, input: unknown): SimulatedWorld {
    const first = input as Fact
    const begun = new SimulatedWorld(kind, idOf(kind, first), emptyWorld())
    for (const draft of surroundings(kind, first)) begun.#play(begun.next(draft))
    return begun
  }

  /** Type of the fact with which a runtime goes on in the same step; null: it rests, and commands arrive. */
  get due(): FactType | null {
    const [first] = this.#due
    return first === undefined || isAsk(first) ? null : first.type
  }

  /** What a draft would be as the next fact. */
  next(draft: Draft): Fact {
    return completed(draft, this.world.seq + 1)
  }

  /** Whether the chart that is tried out hears of a fact. */
  concerns(fact: Fact): boolean {
    return route(this.world, fact).some(
      (target) => target.chart === this.kind && (target.chart === 'session' || target.id === this.#id),
    )
  }

  /** Decided by the charts, as in a runtime. */
  fold(fact: Fact): Folded {
    return fold(this.world, fact)
  }

  /** Follows a fact that the chart was offered by itself, and that led it here. */
  follow(event: object, snapshot: AnyMachineSnapshot): void {
    const fact = event as Fact
    for (const draft of before(this.world, fact)) this.#playElsewhere(this.next(draft))
    if (!this.#play(fact)) this.#keep(snapshot)
    const { seq } = snapshot.context as { readonly seq?: unknown }
    this.world.seq = typeof seq === 'number' ? Math.max(seq, this.world.seq) : this.world.seq
  }

  /** A world of its own, to see what would come of something. */
  copy(): World {
    return Object.fromEntries(Object.entries(this.world).map(([name, value]) => [name, copyOf(value)])) as never
  }

  #playElsewhere(fact: Fact): void {
    if (!this.concerns(fact)) this.#play(fact)
  }

  /** What a reader writes may be no fact at all. */
  #play(fact: Fact): boolean {
    try {
      const { refusedBy, agenda } = fold(this.world, fact)
      if (refusedBy !== null) return false
      this.#due = goOn(this, [...agenda, ...withoutPlayed(this.#due, fact)], fact)
      return true
    } catch {
      return false
    }
  }

  #keep(snapshot: AnyMachineSnapshot): void {
    const { world } = this
    const id = this.#id
    if (this.kind === 'session') {
      world.session = resolved(sessionMachine, snapshot) as SessionSnapshot
      const { tasks } = world.session.context
      for (const task of world.tasks.keys()) if (!(task in tasks)) world.tasks.delete(task)
    } else if (this.kind === 'group') world.groups.set(id, resolved(groupMachine, snapshot) as GroupSnapshot)
    else if (this.kind === 'call') world.calls.set(id, resolved(callMachine, snapshot) as CallSnapshot)
    else if (snapshot.status === 'done') world.tasks.delete(id)
    else world.tasks.set(id, resolved(taskMachine, snapshot) as TaskSnapshot)
  }
}

function resolved(machine: AnyStateMachine, { value, context, status }: AnyMachineSnapshot): AnyMachineSnapshot {
  return machine.resolveState({ value, context: context as never, status }) as AnyMachineSnapshot
}

/** Records and states are never changed; what holds them, and views, grow in place. */
function copyOf(value: unknown): unknown {
  if (value instanceof Map)
    return new Map([...value].map(([key, each]) => [key, isView(each) ? copyOfView(each) : each]))
  if (value instanceof Set) return new Set(value)
  return isView(value) ? copyOfView(value) : value
}

function isView(value: unknown): value is View {
  return typeof value === 'object' && value !== null && 'entries' in value && Array.isArray(value.entries)
}

function copyOfView(view: View): View {
  return { ...view, entries: [...view.entries] }
}

function completed(draft: Draft, seq: number): Fact {
  const { type, data, task = null, call = null } = draft
  return {
    type,
    data,
    id: `fact-${seq}`,
    seq,
    step: seq,
    at: sampleTime,
    task,
    run: task === null ? null : `run-of-${task}`,
    call,
  } as Fact
}

function idOf(kind: ChartKind, input: Fact): string {
  if (kind === 'group') return input.type === 'group.created' ? input.data.group : ''
  return (kind === 'call' ? input.call : input.task) ?? ''
}

const opened: Draft<'session.opened'> = { type: 'session.opened', data: { settings: sampleSettings } }

/** What must have happened for the chart to begin, and its beginning. */
function surroundings(kind: ChartKind, input: Fact): readonly Draft[] {
  const own = input as Draft
  if (kind === 'session') return [own]
  if (kind === 'call') return [opened, ...turnThatAsks(input), own]
  return kind === 'task' && input.type === 'task.created' ? [opened, ...aheadOf(input), own] : [opened, own]
}

/** Of a turn that waits one that runs, of a background task the one that began it, and its group. */
function aheadOf({ data }: FactOf<'task.created'>): readonly Draft[] {
  const { origin, parent, predecessor, group } = data
  const ahead = parent ?? predecessor ?? (origin === 'follow_up' ? 'task-0' : undefined)
  const grouped: readonly Draft[] =
    group === undefined ? [] : [{ type: 'group.created', data: { group, failFast: false } }]
  return ahead === undefined ? grouped : [running(ahead), ...grouped]
}

/** It starts, and asks its model, in the same step. */
function running(task: TaskId): Draft<'task.created'> {
  const data = { ...sampleInput, kind: 'foreground', origin: 'start', requires: 'none' } as const
  return { type: 'task.created', task, data }
}

/** A turn whose model has asked for the call. */
function turnThatAsks({ task, call, data }: Fact): readonly Draft[] {
  const { name = '' } = data as { readonly name?: string }
  const asked = [{ call: call ?? '', name, arguments: sampleDigest }]
  return [
    running(task ?? ''),
    { type: 'model.completed', task, data: { ...lastAnswer, finish: 'calls', calls: asked } },
  ]
}

const lastAnswer = {
  usage: sampleUsage,
  finish: 'stop',
  digest: sampleDigest,
  calls: [],
  durationMs: 12,
} as const satisfies FactData['model.completed']

/** What happens elsewhere before a fact that the reader plays: another turn ends, or a pause is opened and settled. */
function before(world: World, fact: Fact): readonly Draft[] {
  return fact.call === null ? endOfOther(world, fact) : pauseOfCall(world, fact)
}

/** A turn starts, or is blocked, when the one before it has ended. */
function endOfOther({ session }: World, { type, task }: Fact): readonly Draft[] {
  const other = session?.context.active ?? null
  if (other === null || other === task) return []
  if (type === 'task.started') return [{ type: 'model.completed', task: other, data: lastAnswer }]
  const failure = { code: 'MODEL_FAILED', retryable: false, attempt: 1 }
  return type === 'task.blocked' ? [{ type: 'model.failed', task: other, data: failure }] : []
}

/** A call is held by a pause of its task, which another fact opens and another one settles. */
function pauseOfCall(world: World, fact: Fact): readonly Draft[] {
  const { task, call } = fact
  const context = world.tasks.get(task ?? '')?.context
  const open = Object.entries(context?.pauses ?? {}).find(([, pause]) => pause.call !== null && pause.call === call)
  if (fact.type === 'call.held' && fact.data?.token !== undefined && open === undefined) {
    const data = { token: fact.data.token, reason: fact.data.reason as PauseReason }
    return [{ type: 'pause.requested', task, call, data }]
  }
  if (open === undefined || (fact.type !== 'call.started' && fact.type !== 'call.refused')) return []
  const decision = fact.type === 'call.started' ? 'approve' : 'reject'
  return [{ type: 'pause.settled', task, call, data: { token: open[0], decision } }]
}
