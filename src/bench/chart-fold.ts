import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { inertScope } from './inert-scope.ts'
import { entryPoints, type Fact, type Loaded, loadModule } from './product.ts'

/** The product's own charts, by the ids of their roots. */
export interface Charts {
  readonly session: AnyStateMachine
  readonly task: AnyStateMachine
  readonly call: AnyStateMachine
}

const chartIds = ['session', 'task', 'call'] as const

export async function loadCharts(): Promise<Loaded<Charts>> {
  const module = await loadModule(entryPoints.machines)
  if ('missing' in module) return module
  const machines = Object.values(module.found).filter(isMachine)
  const [session, task, call] = chartIds.map((id) => machines.find((machine) => machine.id === id))
  if (session && task && call) return { found: { session, task, call } }
  return { missing: `${entryPoints.machines} exports no charts with the ids ${chartIds.join(', ')}` }
}

function isMachine(value: unknown): value is AnyStateMachine {
  return typeof value === 'object' && value !== null && 'transition' in value && 'root' in value && 'id' in value
}

interface Chart {
  readonly machine: AnyStateMachine
  readonly scope: AnyActorScope
}

/**
 * Raw `machine.transition` and nothing around it: each fact to the session, to its task and to its call, which begin with
 * the first fact that names them. `moved` counts the transitions that gave another snapshot, so that a fold which did nothing
 * shows as such.
 */
export class ChartFold {
  readonly #session: Chart
  readonly #task: Chart
  readonly #call: Chart
  #state: AnyMachineSnapshot | undefined
  readonly #tasks = new Map<string, AnyMachineSnapshot>()
  readonly #calls = new Map<string, AnyMachineSnapshot>()
  moved = 0

  constructor(charts: Charts) {
    this.#session = ready(charts.session)
    this.#task = ready(charts.task)
    this.#call = ready(charts.call)
  }

  offer(fact: Fact): void {
    this.#state = this.#move(this.#session, this.#state, fact)
    if (fact.task !== null) this.#tasks.set(fact.task, this.#move(this.#task, this.#tasks.get(fact.task), fact))
    if (fact.call !== null) this.#calls.set(fact.call, this.#move(this.#call, this.#calls.get(fact.call), fact))
  }

  #move(chart: Chart, snapshot: AnyMachineSnapshot | undefined, fact: Fact): AnyMachineSnapshot {
    if (snapshot === undefined) return chart.machine.getInitialSnapshot(chart.scope, fact)
    const next: AnyMachineSnapshot = chart.machine.transition(snapshot, fact, chart.scope)
    if (next !== snapshot) this.moved += 1
    return next
  }
}

function ready(machine: AnyStateMachine): Chart {
  return { machine, scope: inertScope(machine) }
}
