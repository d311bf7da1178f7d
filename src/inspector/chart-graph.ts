import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { type ChartEdge, childNodes, stateName } from './chart-edges.ts'
import { type ChartRule, type ChartTold, initialChild, rulesOf, stayRules, toldOf } from './chart-rules.ts'

export interface GraphState {
  readonly id: string
  /** How the picture calls it. */
  readonly name: string
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history'
  /** Its parent begins in it. */
  readonly initial: boolean
  /** What it does without being left, and transitions into a state inside it. */
  readonly rules: readonly ChartRule[]
  readonly children: readonly GraphState[]
}

export interface GraphArrow {
  readonly source: string
  readonly target: string
  readonly rules: readonly ChartRule[]
}

/** A chart as plain data to lay out and draw: everything that a reader sees, and nothing that only XState needs. */
export interface ChartGraph {
  readonly root: GraphState
  /** One a pair of states. Parallel arrows would hide each other's labels. */
  readonly arrows: readonly GraphArrow[]
}

/** Reads the picture of a chart from the machine's own state nodes. */
export function chartGraph(machine: AnyStateMachine): ChartGraph {
  const told = toldOf(machine)
  return { root: stateOf(machine.root, told), arrows: arrowsOf(told) }
}

function stateOf(node: AnyStateNode, told: ChartTold): GraphState {
  const isInitial = node.parent !== undefined && initialChild(node.parent, told) === node
  return {
    id: node.id,
    name: stateName(node),
    type: node.type,
    initial: isInitial,
    rules: [...stayRules(node, told), ...inwardRules(node, told)],
    children: childNodes(node).map((child) => stateOf(child, told)),
  }
}

/** An arrow from a state into a state inside it would cross its own border twice; such a transition is told in words. */
function inwardRules(node: AnyStateNode, told: ChartTold): readonly ChartRule[] {
  const groups = new Map<string, ChartEdge[]>()
  for (const edge of told.edges)
    for (const target of edge.targets)
      if (edge.source === node && isWithin(target, node)) {
        const into = target.path.slice(node.path.length).join('.')
        groups.set(into, [...(groups.get(into) ?? []), edge])
      }
  return [...groups].flatMap(([into, own]) => rulesOf(own, told, into))
}

function arrowsOf(told: ChartTold): readonly GraphArrow[] {
  const between = new Map<string, { source: AnyStateNode; target: AnyStateNode; own: ChartEdge[] }>()
  for (const edge of told.edges)
    for (const target of edge.targets) {
      const { source } = edge
      if (target === source || isWithin(target, source)) continue
      const key = JSON.stringify([source.id, target.id])
      const arrow = between.get(key) ?? { source, target, own: [] }
      arrow.own.push(edge)
      between.set(key, arrow)
    }
  return [...between.values()].map(({ source, target, own }) => ({
    source: source.id,
    target: target.id,
    rules: rulesOf(own, told),
  }))
}

function isWithin(node: AnyStateNode, ancestor: AnyStateNode): boolean {
  for (let at = node.parent; at !== undefined; at = at.parent) if (at === ancestor) return true
  return false
}
