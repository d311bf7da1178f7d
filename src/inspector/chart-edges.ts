import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'

/** One way out of a state, or one way of staying in it: each guarded alternative is an edge of its own. */
export interface ChartEdge {
  /** Readable and unique in its chart: source, event, and the position among the alternatives. */
  readonly id: string
  readonly source: AnyStateNode
  /** `null` for an eventless transition (`always`). */
  readonly event: string | null
  readonly guard: string | null
  readonly actions: readonly string[]
  /** Empty when the state is not left. */
  readonly targets: readonly AnyStateNode[]
  /** The object that the machine itself selects, so that a taken transition can be recognised. */
  readonly definition: AnyTransitionDefinition
}

/** The state nodes of a chart in document order, the root first. */
export function chartNodes(machine: AnyStateMachine): readonly AnyStateNode[] {
  return below(machine.root)
}

/**
 * Every transition of a chart, read from its state nodes. XState's own `toDirectedGraph` leaves out eventless transitions, and a
 * picture or a count made from it would be wrong without a sign.
 */
export function chartEdges(machine: AnyStateMachine): readonly ChartEdge[] {
  return chartNodes(machine).flatMap((node) => [
    ...[...node.transitions].flatMap(([event, alternatives]) => edgesOf(node, event, alternatives)),
    ...edgesOf(node, null, node.always ?? []),
  ])
}

function below(node: AnyStateNode): readonly AnyStateNode[] {
  return [node, ...childNodes(node).flatMap(below)]
}

export function childNodes(node: AnyStateNode): readonly AnyStateNode[] {
  return Object.values(node.states)
}

function edgesOf(
  source: AnyStateNode,
  event: string | null,
  alternatives: readonly AnyTransitionDefinition[],
): readonly ChartEdge[] {
  return alternatives.map((definition, at) => ({
    id: `${source.id} ${event ?? 'always'}${alternatives.length > 1 ? ` #${at + 1}` : ''}`,
    source,
    event,
    guard: guardName(definition.guard),
    actions: definition.actions.map(actionName),
    targets: definition.target ?? [],
    definition,
  }))
}

/** Whether a descriptor, which may end in a wildcard, means an event of this type. */
export function isMeant(descriptor: string, type: string): boolean {
  if (descriptor === type || descriptor === '*') return true
  return descriptor.endsWith('.*') && (type === descriptor.slice(0, -2) || type.startsWith(descriptor.slice(0, -1)))
}

/** What a state is called in a picture: where a history state leads is not to be seen, so it is said that it is one. */
export function stateName({ key, type, history }: Pick<AnyStateNode, 'key' | 'type' | 'history'>): string {
  if (type !== 'history') return key
  return `${key} (${history === 'deep' ? 'deep history' : 'history'})`
}

/** Name of a guard; combined ones as `not(a)` or `and(a, b)`. */
export function guardName(guard: unknown): string | null {
  if (guard === undefined || guard === null) return null
  if (typeof guard === 'string') return guard
  if (typeof guard === 'function') {
    const parts = 'guards' in guard && Array.isArray(guard.guards) ? guard.guards : null
    if (parts === null) return guard.name === '' ? 'inline' : guard.name
    return `${guard.name}(${parts.map(guardName).join(', ')})`
  }
  return String((guard as { type?: unknown }).type)
}

/** Actions of a state's entry or exit, without those that XState itself adds to keep the time of an `after`. */
export function ownActions(actions: readonly unknown[]): readonly unknown[] {
  return actions.filter((action) => {
    if (typeof action !== 'function') return true
    const { id, sendId } = action as { id?: unknown; sendId?: unknown }
    return !String(id ?? sendId).startsWith('xstate.after.')
  })
}

/** An event as a reader of the chart calls it: what XState names by ids is named by what it says. */
export function eventName(edge: Pick<ChartEdge, 'event' | 'source' | 'definition'>): string {
  const { event, source } = edge
  if (event === null) return 'always'
  if (event.startsWith('xstate.after.')) return `after ${delayOf(edge.definition)}`
  if (event === `xstate.done.state.${source.id}`) return 'done'
  const [, end, actor] = /^xstate\.(done\.actor|error\.actor|snapshot)\.(.*)$/.exec(event) ?? []
  if (end === undefined || actor === undefined) return event
  return `${actor} ${{ 'done.actor': 'done', 'error.actor': 'error', snapshot: 'snapshot' }[end]}`
}

/** Milliseconds, or the name of a delay. */
export function delayOf(definition: AnyTransitionDefinition): string {
  return String((definition as { delay?: unknown }).delay)
}

export function actionName(action: unknown): string {
  if (typeof action === 'string') return action
  if (typeof action === 'function') return action.name === '' ? 'inline' : action.name
  return String((action as { type?: unknown }).type)
}
