import type { Fact } from './facts.ts'

/** An action that a transition asks for, with its parameters for this event. */
export interface Emitted {
  readonly type: string
  readonly params?: unknown
}

/** What is read of an XState transition, state node, snapshot and machine. */
interface Transition {
  readonly guard?: unknown
  readonly actions: readonly unknown[]
}

interface Node {
  readonly order: number
  readonly entry: readonly unknown[]
  readonly exit: readonly unknown[]
  readonly always?: readonly Transition[] | undefined
}

export interface ChartSnapshot<Context> {
  readonly value: unknown
  readonly context: Context
  readonly _nodes: readonly Node[]
}

export interface ChartMachine {
  getTransitionData(snapshot: never, fact: never): readonly Transition[]
  transition(snapshot: never, fact: never, scope: never): unknown
  readonly implementations: { readonly guards: object }
}

interface Position {
  /** A snapshot in this position; a new one is this with another context. */
  readonly mould: object
  readonly nodes: readonly Node[]
  readonly eventless: readonly Transition[]
  /** What each transition led to from here, by the transition that was enabled; null: ask XState each time. */
  readonly learned: Map<Transition, Lesson | null>
}

interface Lesson {
  readonly to: Position
  readonly actions: readonly Asked[]
}

type Guards = { readonly [name: string]: ((args: object, params: unknown) => boolean) | undefined }

interface Asked {
  readonly type: string
  readonly params?: unknown
}

/**
 * Owns: what `machine.transition` of one chart has answered so far.
 * 1. XState selects the transition, guards included, for every fact. Where a transition leads from a configuration, and which
 *    actions it runs in which order, follows from the chart alone; so that part of its answer is asked for once.
 * 2. Anything but one transition without an eventless one behind it is asked for each time.
 * 3. The answer is the one that `machine.transition` gives; the walk over each chart and the random sessions compare the two.
 */
export class ChartMemory<Context> {
  readonly #machine: ChartMachine
  readonly #scope: object
  readonly #emitted: Emitted[]
  readonly #fold: (context: Context, fact: Fact) => Context
  readonly #positions = new Map<string, Position>()
  readonly #byNodes = new WeakMap<object, Position>()

  constructor(parts: {
    machine: ChartMachine
    scope: object
    /** Where the scope's action executor puts what a transition emits. */
    emitted: Emitted[]
    fold: (context: Context, fact: Fact) => Context
  }) {
    this.#machine = parts.machine
    this.#scope = parts.scope
    this.#emitted = parts.emitted
    this.#fold = parts.fold
  }

  /** The next snapshot, with its actions emitted; null when the chart does not take the fact. */
  transition<S extends ChartSnapshot<Context>>(snapshot: S, fact: Fact): S | null {
    const transitions = this.#machine.getTransitionData(snapshot as never, fact as never)
    const enabled = transitions[0]
    if (enabled === undefined || transitions.length > 1) return this.#ask(snapshot, fact)
    const from = this.#position(snapshot)
    const lesson = from.learned.get(enabled)
    if (lesson === undefined) return this.#learn(snapshot, fact, { from, enabled })
    if (lesson === null) return this.#ask(snapshot, fact)
    const context = this.#fold(snapshot.context, fact)
    if (lesson.to.eventless.some((eventless) => this.#isEnabled(eventless, context, fact)))
      return this.#ask(snapshot, fact)
    for (const action of lesson.actions) this.#emit(action, context, fact)
    return { ...(lesson.to.mould as S), context }
  }

  #emit({ type, params }: Asked, context: Context, fact: Fact): void {
    const given = typeof params === 'function' ? (params({ context, event: fact }) as unknown) : params
    this.#emitted.push({ type, params: given })
  }

  #ask<S extends ChartSnapshot<Context>>(snapshot: S, fact: Fact): S | null {
    const next: unknown = this.#machine.transition(snapshot as never, fact as never, this.#scope as never)
    return next === snapshot ? null : (next as S)
  }

  #learn<S extends ChartSnapshot<Context>>(
    snapshot: S,
    fact: Fact,
    { from, enabled }: { from: Position; enabled: Transition },
  ): S | null {
    const before = this.#emitted.length
    const next = this.#ask(snapshot, fact)
    if (next === null) return null
    const to = this.#position(next)
    const eventless = [...from.eventless, ...to.eventless]
    if (eventless.some((transition) => this.#isEnabled(transition, next.context, fact))) return next
    const actions = actionsOf(from, enabled, to)
    const emitted = this.#emitted.slice(before).filter((action) => action.params !== undefined)
    from.learned.set(enabled, typesOf(actions) === typesOf(emitted) ? { to, actions } : null)
    return next
  }

  /** Eventless transitions depend on the context, so they are looked at after every fact. */
  #isEnabled(transition: Transition, context: Context, fact: Fact): boolean {
    const guard: unknown = transition.guard
    const name = typeof guard === 'string' ? guard : (guard as { type?: string } | undefined)?.type
    const judge = (this.#machine.implementations.guards as Guards)[name ?? '']
    return judge === undefined || judge({ context, event: fact }, undefined)
  }

  #position(snapshot: ChartSnapshot<Context>): Position {
    const known = this.#byNodes.get(snapshot._nodes)
    if (known !== undefined) return known
    const key = JSON.stringify(snapshot.value)
    const position = this.#positions.get(key) ?? positionOf(snapshot)
    this.#positions.set(key, position)
    this.#byNodes.set(snapshot._nodes, position)
    return position
  }
}

function positionOf(snapshot: ChartSnapshot<unknown>): Position {
  const nodes = snapshot._nodes
  return {
    mould: snapshot,
    nodes,
    eventless: nodes.flatMap((node) => node.always ?? []),
    learned: new Map(),
  }
}

/** Exits from the innermost, the transition's own, entries from the outermost: the order of a statechart. */
function actionsOf(from: Position, enabled: Transition, to: Position): readonly Asked[] {
  const left = from.nodes.filter((node) => !to.nodes.includes(node)).sort((a, b) => b.order - a.order)
  const entered = to.nodes.filter((node) => !from.nodes.includes(node)).sort((a, b) => a.order - b.order)
  const actions = [...left.flatMap((node) => node.exit), ...enabled.actions, ...entered.flatMap((node) => node.entry)]
  return actions.filter(isAsked)
}

/** Bookkeeping has no parameters; what a chart asks for has. */
function isAsked(action: unknown): action is Asked {
  return typeof action === 'object' && action !== null && 'params' in action
}

function typesOf(actions: readonly { readonly type: string }[]): string {
  return actions.map((action) => action.type).join()
}
