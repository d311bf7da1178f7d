import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { actionName, type ChartEdge, chartEdges, childNodes } from './chart-edges.ts'

interface Named {
  readonly type: string
}

export interface ChartTransitionJson {
  readonly target?: readonly string[]
  readonly guard?: Named
  readonly actions?: readonly Named[]
  readonly reenter?: true
}

export interface ChartStateJson {
  readonly id: string
  readonly type?: 'parallel' | 'final' | 'history'
  readonly history?: 'shallow' | 'deep'
  readonly initial?: string
  readonly entry?: readonly Named[]
  readonly exit?: readonly Named[]
  readonly on?: { readonly [event: string]: readonly ChartTransitionJson[] }
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
  const always = own.filter((edge) => edge.event === null)
  const children = childNodes(node)
  const first = node.type === 'compound' ? node.initial.target[0] : undefined
  return {
    id: node.id,
    ...(node.type === 'parallel' || node.type === 'final' || node.type === 'history' ? { type: node.type } : {}),
    ...(node.history === false || node.history === undefined ? {} : { history: node.history }),
    ...(first === undefined ? {} : { initial: first.key }),
    ...(node.entry.length === 0 ? {} : { entry: node.entry.map(named) }),
    ...(node.exit.length === 0 ? {} : { exit: node.exit.map(named) }),
    ...(own.length === always.length ? {} : { on: handlers(own) }),
    ...(always.length === 0 ? {} : { always: always.map(transitionJson) }),
    ...(children.length === 0
      ? {}
      : { states: Object.fromEntries(children.map((child) => [child.key, stateJson(child, edges)])) }),
  }
}

function handlers(edges: readonly ChartEdge[]): { readonly [event: string]: readonly ChartTransitionJson[] } {
  const on: Record<string, ChartTransitionJson[]> = {}
  for (const edge of edges) if (edge.event !== null) on[edge.event] = [...(on[edge.event] ?? []), transitionJson(edge)]
  return on
}

function transitionJson(edge: ChartEdge): ChartTransitionJson {
  return {
    ...(edge.targets.length === 0 ? {} : { target: edge.targets.map((target) => `#${target.id}`) }),
    ...(edge.guard === null ? {} : { guard: { type: edge.guard } }),
    ...(edge.actions.length === 0 ? {} : { actions: edge.actions.map((type) => ({ type })) }),
    ...(edge.definition.reenter ? { reenter: true } : {}),
  }
}

function named(action: unknown): Named {
  return { type: actionName(action) }
}
