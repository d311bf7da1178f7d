import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { callMachine } from '../../../machines/call.machine.ts'
import type { Draft, Fact } from '../../../machines/facts.ts'
import { type Folded, fold } from '../../../machines/fold.ts'
import { groupMachine } from '../../../machines/group.machine.ts'
import { route } from '../../../machines/routing.ts'
import { sessionMachine } from '../../../machines/session.machine.ts'
import { taskMachine } from '../../../machines/task.machine.ts'
import type { PauseReason } from '../../../machines/vocabulary.ts'
import {
  type CallSnapshot,
  emptyWorld,
  type GroupSnapshot,
  type SessionSnapshot,
  type TaskSnapshot,
  type World,
} from '../../../machines/world.ts'
import { sampleDigest, sampleInput, sampleRequest, sampleSettings, sampleStarted, sampleUsage } from './sample-fact.ts'
import { sampleTime } from './sample-time.ts'

export type ChartKind = 'session' | 'task' | 'call' | 'group'

/**
 * Owns: the world around one chart that is tried out.
 * 1. It holds what the facts of that chart say, and as much around it as commands are decided on.
 * 2. The chart that is tried out has the first word: where another one would have refused a fact that it took, the world follows it.
 */
export class SimulatedWorld {
  readonly kind: ChartKind
  readonly world: World
  readonly #id: string

  private constructor(kind: ChartKind, id: string, world: World) {
    this.kind = kind
    this.#id = id
    this.world = world
  }

  static begin(kind: ChartKind, input: unknown): SimulatedWorld {
    const first = input as Fact
    const begun = new SimulatedWorld(kind, idOf(kind, first), emptyWorld())
    for (const draft of surroundings(kind, first)) begun.#tryFold(begun.next(draft))
    return begun
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
    for (const draft of before(this.world, fact)) this.#tryFold(this.next(draft))
    if (!this.#tryFold(fact)) this.#keep(snapshot)
    if (fact.type === 'call.unknown') this.#tryFold(this.next(quarantine(fact)))
    const { seq } = snapshot.context as { readonly seq?: unknown }
    this.world.seq = typeof seq === 'number' ? Math.max(seq, this.world.seq) : this.world.seq
  }

  /** A world of its own, to see what would come of something. */
  copy(): World {
    return Object.fromEntries(Object.entries(this.world).map(([name, value]) => [name, copyOf(name, value)])) as never
  }

  /** What a reader writes may be no fact at all. */
  #tryFold(fact: Fact): boolean {
    try {
      return fold(this.world, fact).refusedBy === null
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

/** States of charts never change and are not data alone; everything else grows in place. */
const states: ReadonlySet<string> = new Set(['session', 'tasks', 'calls', 'groups'])

function copyOf(name: string, value: unknown): unknown {
  if (!states.has(name)) return structuredClone(value)
  return value instanceof Map ? new Map(value) : value
}

function completed(draft: Draft, seq: number): Fact {
  const { type, data, task = null, call = null } = draft
  return { type, data, id: `fact-${seq}`, seq, step: seq, at: sampleTime, task, run: null, call } as Fact
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
  return kind === 'call' ? [opened, ...turnThatAsks(input), own] : [opened, own]
}

/** A turn whose model has asked for the call. */
function turnThatAsks({ task, call, data }: Fact): readonly Draft[] {
  const { name = '' } = data as { readonly name?: string }
  const asked = [{ call: call ?? '', name, arguments: sampleDigest }]
  const answer = { usage: sampleUsage, finish: 'calls', digest: sampleDigest, calls: asked, durationMs: 12 } as const
  return [
    { type: 'task.created', task, data: { ...sampleInput, kind: 'foreground', origin: 'start', requires: 'none' } },
    { type: 'task.started', task, data: sampleStarted },
    { type: 'model.requested', task, data: sampleRequest },
    { type: 'model.completed', task, data: answer },
  ]
}

/** A call is held by a pause of its task, which another fact opens and another one settles. */
function before(world: World, fact: Fact): readonly Draft[] {
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

function quarantine({ call }: Fact): Draft<'mutation.quarantined'> {
  return { type: 'mutation.quarantined', data: { calls: [call ?? ''] } }
}
