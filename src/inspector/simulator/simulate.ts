import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  getMicrosteps,
  initialTransition,
  StateMachine,
} from 'xstate'
import { LandfallError } from '../../facts/errors.ts'
import { type ChartEdge, chartEdges } from '../chart-edges.ts'
import { type AskedAction, askedOf, type Refused, refusedBy, tookOf } from './explain.ts'
import type { ShownChart } from './own-charts.ts'

export type SimulatedEvent = { readonly type: string } & { readonly [field: string]: unknown }

export interface SimulatedStep {
  /** Absent for the beginning. */
  readonly event?: SimulatedEvent
  readonly value: unknown
  /** Ids of all active states. */
  readonly active: readonly string[]
  readonly context: unknown
  readonly status: string
  /** Some transition was taken, whether or not a state was left. */
  readonly accepted: boolean
  /** Ids of the edges that were taken. */
  readonly took: readonly string[]
  /** Alternatives that were asked and said no. */
  readonly refused: readonly Refused[]
  readonly asked: readonly AskedAction[]
  /** A guard or an assignment threw. */
  readonly error?: string
}

/** An event that the present states have a transition for. */
export interface EventChoice {
  readonly label: string
  readonly event: SimulatedEvent
  /** What would come of it now. */
  readonly leads: 'on' | 'nowhere' | 'error'
}

export interface Simulation {
  readonly steps: readonly SimulatedStep[]
  readonly choices: readonly EventChoice[]
}

const mostEvents = 1_000
/** Steps that one event may lead to by itself. A chart that takes more goes in circles, which the simulator is there to show. */
const mostMicrosteps = 1_000

/**
 * Plays events through a chart by pure transitions: no action is executed, nothing is invoked, no timer runs. The same list of
 * events gives the same simulation, so nothing needs to be kept between two of them.
 */
export function simulate(
  chart: ShownChart,
  played: { readonly events: readonly SimulatedEvent[]; readonly input?: unknown },
): Simulation {
  if (played.events.length > mostEvents)
    throw new LandfallError('LIMIT_EXCEEDED', 'The simulation has too many events. Begin anew.', {
      details: { bound: mostEvents, got: played.events.length },
    })
  const bounded = { ...chart, machine: inBounds(chart.machine) }
  const edges = chartEdges(bounded.machine)
  let { snapshot, step } = begin(bounded, played.input ?? chart.input)
  const steps = [step]
  for (const event of played.events) {
    ;({ snapshot, step } = next(bounded, edges, { snapshot, event }))
    steps.push(step)
  }
  return { steps, choices: choicesOf(bounded, edges, snapshot) }
}

/** A machine like it, with an end to what it does by itself. The one of the user stays as it is. */
function inBounds({ config, implementations, options }: AnyStateMachine): AnyStateMachine {
  const maxIterations = Math.min(options?.maxIterations ?? Number.POSITIVE_INFINITY, mostMicrosteps)
  return new StateMachine({ ...config, options: { ...options, maxIterations } }, implementations)
}

interface Moved {
  readonly snapshot: AnyMachineSnapshot
  readonly step: SimulatedStep
}

function begin(chart: ShownChart, input: unknown): Moved {
  const [snapshot, actions] = beginningOf(chart.machine, input)
  if (snapshot.status === 'error') throw cannotBegin(snapshot.error)
  return { snapshot, step: { ...shown(snapshot), accepted: true, took: [], refused: [], asked: askedOf(actions) } }
}

function beginningOf(machine: AnyStateMachine, input: unknown): readonly [AnyMachineSnapshot, readonly object[]] {
  try {
    const [first, actions] = initialTransition(machine, input as never)
    return [first as AnyMachineSnapshot, actions]
  } catch (error) {
    throw cannotBegin(error)
  }
}

function cannotBegin(error: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', `The chart cannot begin with this input: ${reasonOf(error)}`, {
    details: { field: 'input' },
  })
}

function next(
  { machine }: ShownChart,
  edges: readonly ChartEdge[],
  { snapshot, event }: { snapshot: AnyMachineSnapshot; event: SimulatedEvent },
): Moved {
  const nothing = { accepted: false, took: [], refused: [], asked: [] }
  if (snapshot.status !== 'active') return { snapshot, step: { event, ...shown(snapshot), ...nothing } }
  try {
    const enabled: readonly AnyTransitionDefinition[] = machine.getTransitionData(snapshot, event)
    const refused = refusedBy(snapshot, event, edges)
    if (enabled.length === 0) return { snapshot, step: { event, ...shown(snapshot), ...nothing, refused } }
    const micro: readonly (readonly [AnyMachineSnapshot, readonly object[]])[] = getMicrosteps(machine, snapshot, event)
    const last = micro.at(-1)?.[0] ?? snapshot
    const asked = askedOf(micro.flatMap(([, actions]) => actions))
    const path = [snapshot, ...micro.map(([each]) => each)]
    const took = tookOf(edges, enabled, path)
    return { snapshot: last, step: { event, ...shown(last), accepted: true, took, refused, asked } }
  } catch (error) {
    return { snapshot, step: { event, ...shown(snapshot), ...nothing, error: reasonOf(error) } }
  }
}

function choicesOf(
  chart: ShownChart,
  edges: readonly ChartEdge[],
  snapshot: AnyMachineSnapshot,
): readonly EventChoice[] {
  if (snapshot.status !== 'active') return []
  const nodes = new Set<AnyStateNode>(snapshot._nodes)
  const own = edges.filter(({ source }) => nodes.has(source)).flatMap(({ event }) => event ?? [])
  const descriptors = [...new Set(own)].filter((descriptor) => !descriptor.includes('*'))
  const samples = chart.samples?.(snapshot) ?? []
  const offered = [
    ...samples.filter(({ event }) => descriptors.includes(event.type)),
    ...(chart.samples === undefined ? descriptors.map((type) => ({ label: type, event: { type } })) : []),
  ]
  return offered.map(({ label, event }) => {
    const { step } = next(chart, edges, { snapshot, event: event as SimulatedEvent })
    const leads = step.error !== undefined ? 'error' : step.accepted ? 'on' : 'nowhere'
    return { label, event: event as SimulatedEvent, leads }
  })
}

function shown(snapshot: AnyMachineSnapshot): Pick<SimulatedStep, 'value' | 'active' | 'context' | 'status'> {
  const active = (snapshot._nodes as readonly AnyStateNode[]).map(({ id }) => id)
  return { value: snapshot.value, active, context: plainOf(snapshot.context), status: snapshot.status }
}

function plainOf(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as unknown
  } catch {
    return String(value)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.split('\n').join(' ') : String(error)
}
