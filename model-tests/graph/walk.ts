import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import type { Fact } from '../../machines/facts.ts'
import { type ChartEdge, chartEdges, chartNodes } from '../../src/inspector/chart-edges.ts'
import { ObservedChart, type Seen } from './observed-chart.ts'
import { numbered } from './sample-fact.ts'

export type Alphabet = (snapshot: AnyMachineSnapshot) => readonly Fact[]

/** What a chart is walked with. */
export interface Journey {
  readonly machine: AnyStateMachine
  readonly births: readonly Fact[]
  /**
   * The facts that are tried in a state: bounded alphabets, with payloads. Each is walked for itself and the coverage added up,
   * because what multiplies the states in one walk only adds to them in two.
   */
  readonly alphabets: readonly Alphabet[]
  /** What tells states apart; what merely counts is left out, or the walk would have no end. */
  readonly project: (snapshot: AnyMachineSnapshot) => unknown
  /** More states than this are a mistake in the alphabet or the projection. */
  readonly statesMax: number
}

export interface Visit {
  readonly before: AnyMachineSnapshot
  readonly fact: Fact
  readonly seen: Seen
  readonly chart: ObservedChart
}

export interface Walked {
  readonly states: number
  readonly offered: number
  readonly accepted: number
  readonly nodes: readonly string[]
  readonly unvisitedNodes: readonly string[]
  readonly edges: readonly ChartEdge[]
  readonly unvisitedEdges: readonly string[]
}

/**
 * Visits everything that the alphabet reaches, breadth first, so that what is found first is found by a shortest path. `visit`
 * hears of every fact that was offered, whether it was accepted or not.
 */
export function walk(journey: Journey, visit: (visited: Visit) => void): Walked {
  const edges = chartEdges(journey.machine)
  const nodes = chartNodes(journey.machine)
  const visitedNodes = new Set<unknown>()
  const visitedEdges = new Set<unknown>()
  const counts = { states: 0, offered: 0, accepted: 0 }
  for (const alphabet of journey.alphabets) {
    const known = new Set<string>()
    for (const birth of journey.births) {
      const chart = new ObservedChart(journey.machine, birth)
      explore(journey, known, chart.birth(birth).next, (before) => {
        for (const node of before._nodes) visitedNodes.add(node)
        return alphabet(before).map((tried) => {
          const fact = numbered(tried, before.context.seq + 1)
          const seen = chart.offer(before, fact)
          counts.offered += 1
          if (seen.next !== before) counts.accepted += 1
          for (const taken of seen.taken) visitedEdges.add(taken)
          visit({ before, fact, seen, chart })
          return seen.next
        })
      })
    }
    counts.states += known.size
  }
  return {
    ...counts,
    nodes: nodes.map(({ id }) => id),
    unvisitedNodes: nodes.filter((node) => !visitedNodes.has(node)).map(({ id }) => id),
    edges,
    unvisitedEdges: edges.filter((edge) => !visitedEdges.has(edge.definition)).map(describeEdge),
  }
}

type Expand = (before: AnyMachineSnapshot) => readonly AnyMachineSnapshot[]

function explore(journey: Journey, known: Set<string>, first: AnyMachineSnapshot, expand: Expand): void {
  const open: AnyMachineSnapshot[] = []
  const arrive = (snapshot: AnyMachineSnapshot): void => {
    const key = JSON.stringify(journey.project(snapshot))
    if (known.has(key)) return
    if (known.size === journey.statesMax)
      throw new RangeError(`${journey.machine.id}: more than ${journey.statesMax} states`)
    known.add(key)
    open.push(snapshot)
  }
  arrive(first)
  for (let at = 0; at < open.length; at += 1) for (const next of expand(open[at] as AnyMachineSnapshot)) arrive(next)
}

function describeEdge(edge: ChartEdge): string {
  const targets = edge.targets.map(({ id }) => ` → ${id}`).join('')
  return `${edge.id}${edge.guard === null ? '' : ` [${edge.guard}]`}${targets}`
}
