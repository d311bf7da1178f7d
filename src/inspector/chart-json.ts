import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { actionName, type ChartEdge, chartEdges, childNodes, delayOf, guardName, ownActions } from './chart-edges.ts'

interface Named {
  readonly type: string
  readonly params?: object
}

export interface ChartTransitionJson {
  readonly target?: readonly string[]
  readonly guard?: Named
  readonly actions?: readonly Named[]
  readonly reenter?: true
  readonly description?: string
}

interface ByName {
  readonly [name: string]: readonly ChartTransitionJson[]
}

export interface ChartInvokeJson {
  readonly id: string
  readonly src: string
  readonly onDone?: readonly ChartTransitionJson[]
  readonly onError?: readonly ChartTransitionJson[]
  readonly onSnapshot?: readonly ChartTransitionJson[]
}

export interface ChartStateJson {
  readonly id: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly type?: 'parallel' | 'final' | 'history'
  readonly history?: 'shallow' | 'deep'
  /** Where a history state leads when there is no history yet. */
  readonly target?: string
  readonly initial?: string
  readonly entry?: readonly Named[]
  readonly exit?: readonly Named[]
  readonly invoke?: readonly ChartInvokeJson[]
  readonly on?: ByName
  readonly after?: ByName
  readonly onDone?: readonly ChartTransitionJson[]
  readonly always?: readonly ChartTransitionJson[]
  readonly states?: { readonly [key: string]: ChartStateJson }
}

/**
 * A chart as a plain machine config: what `createMachine` and Stately's editor take. Guards and actions are names, targets are
 * ids, and nothing in it is a function, so it survives `JSON.stringify` unchanged.
 */
export function chartJson(machine: AnyStateMachine): ChartStateJson {
  return stateJson(machine.root, chartEdges(machine))
}

function stateJson(node: AnyStateNode, edges: readonly ChartEdge[]): ChartStateJson {
  const own = edges.filter((edge) => edge.source === node)
  const children = childNodes(node)
  const first = node.type === 'compound' ? node.initial.target[0] : undefined
  const { entry, exit } = node
  return {
    id: node.id,
    ...(node.description === undefined ? {} : { description: node.description }),
    ...(node.tags.length === 0 ? {} : { tags: node.tags }),
    ...typeJson(node),
    ...(first === undefined ? {} : { initial: first.key }),
    ...(ownActions(entry).length === 0 ? {} : { entry: ownActions(entry).map(named) }),
    ...(ownActions(exit).length === 0 ? {} : { exit: ownActions(exit).map(named) }),
    ...transitionsJson(node, own),
    ...(children.length === 0
      ? {}
      : { states: Object.fromEntries(children.map((child) => [child.key, stateJson(child, edges)])) }),
  }
}

function typeJson(node: AnyStateNode): Pick<ChartStateJson, 'type' | 'history' | 'target'> {
  if (node.type === 'parallel' || node.type === 'final') return { type: node.type }
  if (node.type !== 'history') return {}
  const { target } = node.config as { target?: unknown }
  return {
    type: 'history',
    history: node.history === 'deep' ? 'deep' : 'shallow',
    ...(typeof target === 'string' ? { target } : {}),
  }
}

/** Each kind of transition under the key that a config has for it; XState itself keeps all of them by the names of events. */
function transitionsJson(node: AnyStateNode, own: readonly ChartEdge[]): Partial<ChartStateJson> {
  const doneEvent = `xstate.done.state.${node.id}`
  const take = (wanted: (event: string) => boolean) => own.filter(({ event }) => event !== null && wanted(event))
  const onActor = (kind: string, id: string) => take((event) => event === `xstate.${kind}.${id}`).map(transitionJson)
  const isTimer = (event: string) => event.startsWith('xstate.after.')
  const ofActors = new Set(
    node.invoke.flatMap(({ id }) => ['done.actor', 'error.actor', 'snapshot'].map((kind) => `xstate.${kind}.${id}`)),
  )
  const on = take((event) => event !== doneEvent && !isTimer(event) && !ofActors.has(event))
  const after = take(isTimer)
  const done = take((event) => event === doneEvent)
  const always = own.filter(({ event }) => event === null)
  const invoke = node.invoke.map(({ id, src }) => ({
    id,
    src: typeof src === 'string' ? src : id,
    ...some('onDone', onActor('done.actor', id)),
    ...some('onError', onActor('error.actor', id)),
    ...some('onSnapshot', onActor('snapshot', id)),
  }))
  return {
    ...some('invoke', invoke),
    ...(on.length === 0 ? {} : { on: grouped(on, (edge) => edge.event ?? '') }),
    ...(after.length === 0 ? {} : { after: grouped(after, (edge) => delayOf(edge.definition)) }),
    ...some('onDone', done.map(transitionJson)),
    ...some('always', always.map(transitionJson)),
  }
}

function some<K extends string, T>(key: K, items: readonly T[]): { readonly [P in K]?: readonly T[] } {
  return items.length === 0 ? {} : ({ [key]: items } as { readonly [P in K]?: readonly T[] })
}

function grouped(edges: readonly ChartEdge[], keyOf: (edge: ChartEdge) => string): ByName {
  const groups = new Map<string, readonly ChartTransitionJson[]>()
  for (const edge of edges) groups.set(keyOf(edge), [...(groups.get(keyOf(edge)) ?? []), transitionJson(edge)])
  return Object.fromEntries(groups)
}

/** A target as XState reads it: dots lead into a state, so those that belong to a name are marked. */
function targetOf({ id, machine, path }: AnyStateNode): string {
  const names = [machine.id, ...path]
  const isByPath = id === names.join('.')
  return `#${(isByPath ? names : [id]).map((name) => name.replace(/[\\.]/g, '\\$&')).join('.')}`
}

function transitionJson(edge: ChartEdge): ChartTransitionJson {
  const { targets, definition } = edge
  return {
    ...(targets.length === 0 ? {} : { target: targets.map(targetOf) }),
    ...(edge.guard === null
      ? {}
      : { guard: { type: guardName(definition.guard) ?? edge.guard, ...plainParams(definition.guard) } }),
    ...(edge.actions.length === 0 ? {} : { actions: definition.actions.map(named) }),
    ...(definition.reenter ? { reenter: true } : {}),
    ...(definition.description === undefined ? {} : { description: definition.description }),
  }
}

function named(action: unknown): Named {
  return { type: actionName(action), ...plainParams(action) }
}

/** Parameters that are written in the chart. Those that a function computes are none of the chart's data. */
function plainParams(of: unknown): { readonly params?: object } {
  if (typeof of !== 'object' || of === null) return {}
  const { params } = of as { params?: unknown }
  return typeof params === 'object' && params !== null ? { params } : {}
}
