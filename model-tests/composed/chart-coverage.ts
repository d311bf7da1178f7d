import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { callMachine } from '../../machines/call.machine.ts'
import type { Fact } from '../../machines/facts.ts'
import { fold } from '../../machines/fold.ts'
import { groupMachine } from '../../machines/group.machine.ts'
import { route, type Target } from '../../machines/routing.ts'
import { sessionMachine } from '../../machines/session.machine.ts'
import { taskMachine } from '../../machines/task.machine.ts'
import { emptyWorld } from '../../machines/world.ts'
import { type ChartEdge, chartEdges, chartNodes } from '../../src/inspector/chart-edges.ts'
import { ObservedChart } from '../graph/observed-chart.ts'
import { sampleFact } from '../graph/sample-fact.ts'

const births: Readonly<Record<Target['chart'], Fact>> = {
  session: sampleFact('session.opened'),
  task: sampleFact('task.created'),
  call: sampleFact('call.requested'),
  group: sampleFact('group.created'),
}
const machines: Readonly<Record<Target['chart'], AnyStateMachine>> = {
  session: sessionMachine,
  task: taskMachine,
  call: callMachine,
  group: groupMachine,
}

/** `source event [guard] → targets`: how a transition is named in a report, and in the table of those that nothing drives yet. */
export function edgeName(edge: ChartEdge): string {
  const event = edge.event ?? 'always'
  const guard = edge.guard === null ? '' : ` [${edge.guard}]`
  return `${edge.source.id} ${event}${guard}${edge.targets.map(({ id }) => ` → ${id}`).join('')}`
}

/** Owns: which states and transitions of the charts the logs that it was shown have gone through. */
export class ChartCoverage {
  readonly #charts = {
    session: new ObservedChart(machines.session, births.session),
    task: new ObservedChart(machines.task, births.task),
    call: new ObservedChart(machines.call, births.call),
    group: new ObservedChart(machines.group, births.group),
  }
  readonly #nodes = new Set<unknown>()
  readonly #edges = new Set<unknown>()

  /** Replays a log from its beginning, transition by transition. */
  visit(facts: readonly Fact[]): void {
    const world = emptyWorld()
    const snapshots = new Map<string, AnyMachineSnapshot>()
    for (const fact of facts) {
      for (const target of route(world, fact)) {
        const key = target.chart === 'session' ? 'session' : `${target.chart} ${target.id}`
        const before = snapshots.get(key)
        const chart = this.#charts[target.chart]
        const { next, taken } = before === undefined ? chart.birth(fact) : chart.offer(before, fact)
        snapshots.set(key, next)
        for (const node of next._nodes) this.#nodes.add(node)
        for (const edge of taken) {
          this.#edges.add(edge)
          for (const node of edge.target ?? []) this.#nodes.add(node)
        }
      }
      fold(world, fact)
    }
  }

  report(): { readonly summary: string; readonly unreached: readonly string[] } {
    const unreached: string[] = []
    const summary = Object.values(machines).map((machine) => {
      const nodes = chartNodes(machine)
      const edges = chartEdges(machine)
      const noNodes = nodes.filter((node) => !this.#nodes.has(node)).map(({ id }) => id)
      const noEdges = edges.filter((edge) => !this.#edges.has(edge.definition)).map(edgeName)
      unreached.push(...noNodes, ...noEdges)
      const states = `${nodes.length - noNodes.length}/${nodes.length} states`
      return `${machine.id}: ${states}, ${edges.length - noEdges.length}/${edges.length} transitions`
    })
    return { summary: summary.join('; '), unreached: [...new Set(unreached)] }
  }
}
