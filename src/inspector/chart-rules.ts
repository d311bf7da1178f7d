import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { actionName, type ChartEdge, chartEdges, chartNodes, childNodes, eventName, ownActions } from './chart-edges.ts'

/** What a chart does in one place, as a reader is told it: events that share the rest stand together. */
export interface ChartRule {
  /** Names of events, or `entry`, `exit` or `invoke`. */
  readonly events: readonly string[]
  readonly guard: string | null
  readonly actions: readonly string[]
  /** A state inside this one that is entered without an arrow being drawn. */
  readonly into: string | null
  /** Ids of the edges that are told here. */
  readonly edges: readonly string[]
}

/** The edges of a chart with what they have in common. */
export interface ChartTold {
  readonly nodes: readonly AnyStateNode[]
  readonly edges: readonly ChartEdge[]
  /** Actions of every transition, such as the bookkeeping of a fold: they would say nothing. */
  readonly unsaid: ReadonlySet<string>
}

export function toldOf(machine: AnyStateMachine): ChartTold {
  const edges = chartEdges(machine)
  const [first, ...rest] = edges.filter(({ event }) => event !== null)
  const everywhere = (first?.actions ?? []).filter((action) => rest.every(({ actions }) => actions.includes(action)))
  return { nodes: chartNodes(machine), edges, unsaid: new Set(rest.length === 0 ? [] : everywhere) }
}

/** What happens in a state that is not left: its entry and exit, what it invokes, and transitions without a target. */
export function stayRules(node: AnyStateNode, told: ChartTold): readonly ChartRule[] {
  const own = told.edges.filter(({ source, targets }) => source === node && targets.every((target) => target === node))
  return [
    ...ownActions(node.entry).map((action) => plainRule('entry', [actionName(action)])),
    ...ownActions(node.exit).map((action) => plainRule('exit', [actionName(action)])),
    ...node.invoke.map(({ id, src }) => plainRule('invoke', [typeof src === 'string' ? src : id])),
    ...rulesOf(
      own.filter(({ definition }) => !definition.reenter),
      told,
    ),
    ...rulesOf(
      own.filter(({ definition }) => definition.reenter),
      told,
      'itself',
    ),
  ]
}

function plainRule(event: string, actions: readonly string[]): ChartRule {
  return { events: [event], guard: null, actions, into: null, edges: [] }
}

/** Events that share guard, actions and target share a rule. */
export function rulesOf(own: readonly ChartEdge[], told: ChartTold, into: string | null = null): readonly ChartRule[] {
  const rules = new Map<string, ChartRule>()
  for (const edge of own) {
    const guard = edge.guard ?? (isOtherwise(edge, told) ? 'else' : null)
    const actions = edge.actions.filter((action) => !told.unsaid.has(action))
    const key = JSON.stringify([guard, actions])
    const { events, edges } = rules.get(key) ?? { events: [], edges: [] }
    rules.set(key, { events: [...events, eventName(edge)], guard, actions, into, edges: [...edges, edge.id] })
  }
  return [...rules.values()]
}

/** No guard of its own, but others are asked first. */
function isOtherwise(edge: ChartEdge, { edges }: ChartTold): boolean {
  return edges.some((other) => other !== edge && other.source === edge.source && other.event === edge.event)
}

/** Entered as a whole, so that its initial state matters. Where every transition names a child, a marker would mislead. */
export function isEntered(node: AnyStateNode, told: ChartTold): boolean {
  const { parent } = node
  if (parent === undefined || told.edges.some((edge) => edge.targets.includes(node))) return true
  return (parent.type === 'parallel' || parent.initial.target.includes(node)) && isEntered(parent, told)
}

/** The child in which a state begins, where the state is ever entered as a whole. */
export function initialChild(node: AnyStateNode, told: ChartTold): AnyStateNode | undefined {
  if (node.type !== 'compound' || childNodes(node).length === 0) return undefined
  return isEntered(node, told) ? node.initial.target[0] : undefined
}
