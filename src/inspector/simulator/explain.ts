import type { AnyMachineSnapshot, AnyStateNode, AnyTransitionDefinition, EventObject } from 'xstate'
import { type ChartEdge, isMeant } from '../chart-edges.ts'
import { plainValue } from './plain-value.ts'

/** An action that the chart asked for. Nothing executes it here. */
export interface AskedAction {
  readonly type: string
  readonly params: unknown
}

/** A transition that was asked for an event and whose guard said no. */
export interface Refused {
  readonly edge: string
  readonly state: string
  readonly guard: string
}

interface Choosing {
  next(snapshot: AnyMachineSnapshot, event: EventObject): readonly AnyTransitionDefinition[] | undefined
}

/**
 * The guards that refused an event. States are asked as XState asks them: the innermost first, a state only when none inside it
 * took the event, and the alternatives of a state in order until one says yes.
 */
export function refusedBy(
  snapshot: AnyMachineSnapshot,
  event: EventObject,
  edges: readonly ChartEdge[],
): readonly Refused[] {
  const nodes: readonly AnyStateNode[] = snapshot._nodes
  const refused: Refused[] = []
  const ask = (node: AnyStateNode): boolean => {
    const inner = nodes.filter(({ parent }) => parent === node).map(ask)
    if (inner.includes(true)) return true
    const [chosen] = (node as AnyStateNode & Choosing).next(snapshot, event) ?? []
    for (const { definition, id, guard } of alternatives(node, event.type, edges)) {
      if (definition === chosen) return true
      if (guard !== null) refused.push({ edge: id, state: node.id, guard })
    }
    return chosen !== undefined
  }
  const root = nodes.find(({ parent }) => parent === undefined)
  if (root !== undefined) ask(root)
  return refused
}

/** Transitions of a state for an event, also by wildcard, the most exact descriptor first. */
function alternatives(node: AnyStateNode, type: string, edges: readonly ChartEdge[]): readonly ChartEdge[] {
  return edges
    .filter(({ source, event }) => source === node && event !== null && isMeant(event, type))
    .map((edge, at) => ({ edge, at }))
    .sort((a, b) => (b.edge.event?.length ?? 0) - (a.edge.event?.length ?? 0) || a.at - b.at)
    .map(({ edge }) => edge)
}

/**
 * Ids of the edges that were taken. XState names those of the event; eventless ones behind it are known by what was left and
 * entered from one microstep to the next.
 */
export function tookOf(
  edges: readonly ChartEdge[],
  enabled: readonly AnyTransitionDefinition[],
  path: readonly AnyMachineSnapshot[],
): readonly string[] {
  const took = edges.filter(({ definition }) => enabled.includes(definition))
  const eventless = edges.filter(({ event }) => event === null)
  for (const [at, after] of path.entries()) {
    const before = path[at - 1]
    if (at < 2 || before === undefined) continue
    took.push(
      ...eventless.filter(({ source, targets }) => isActive(before, source) && isEntered(before, after, targets)),
    )
  }
  return [...new Set(took.map(({ id }) => id))]
}

function isEntered(before: AnyMachineSnapshot, after: AnyMachineSnapshot, targets: readonly AnyStateNode[]): boolean {
  return targets.length > 0 && targets.every((target) => isActive(after, target) && !isActive(before, target))
}

function isActive(snapshot: AnyMachineSnapshot, node: AnyStateNode): boolean {
  return (snapshot._nodes as readonly AnyStateNode[]).includes(node)
}

/** What a transition asked for, as plain data. Bookkeeping of XState that says nothing to a reader is left out. */
export function askedOf(actions: readonly object[]): readonly AskedAction[] {
  return actions.map((action) => {
    const { type, params } = action as { type: string; params?: unknown }
    return { type, params: plainValue(params) }
  })
}
