import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  initialTransition,
  StateMachine,
} from 'xstate'
import { LandfallError } from '../../facts/errors.ts'
import { type ChartEdge, chartEdges } from '../chart-edges.ts'
import { refusalNow } from './carry-out.ts'
import { type CommandChoice, commandType } from './command-receipt.ts'
import { askedOf } from './explain.ts'
import { lacking } from './lacking.ts'
import type { ShownChart } from './own-charts.ts'
import { playCommand } from './play-command.ts'
import { type Moved, playEvent, reasonOf, type SimulatedEvent, type SimulatedStep, shown } from './play-event.ts'
import { SimulatedWorld } from './simulated-world.ts'

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
  /** For charts that commands are about. */
  readonly commands: readonly CommandChoice[]
  /** Type of the fact with which a runtime goes on in the same step; null: it rests, or the chart is none of ours. */
  readonly due: string | null
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
  const machine = inBounds(chart.machine)
  const edges = chartEdges(machine)
  const input = played.input ?? chart.input
  let { snapshot, step } = begin(machine, input, chart.input)
  const around = chart.commands === undefined ? null : SimulatedWorld.begin(chart.commands.kind, input)
  const steps = [step]
  for (const event of played.events) {
    if (around !== null && event.type === commandType)
      ({ snapshot, step } = playCommand({ machine, edges, around }, { snapshot, event }))
    else {
      ;({ snapshot, step } = playEvent(machine, edges, { snapshot, event }))
      if (step.accepted) around?.follow(event, snapshot)
    }
    steps.push(step)
  }
  const choices = choicesOf({ ...chart, machine }, edges, snapshot)
  return { steps, choices, commands: commandsOf(chart, around, snapshot), due: around?.due ?? null }
}

function commandsOf(
  { commands }: ShownChart,
  around: SimulatedWorld | null,
  snapshot: AnyMachineSnapshot,
): readonly CommandChoice[] {
  if (around === null || commands === undefined) return []
  return commands.samples(snapshot).map((sample) => ({ ...sample, refused: refusalNow(around, sample.command) }))
}

/** A machine like it, with an end to what it does by itself. The one of the user stays as it is. */
function inBounds({ config, implementations, options }: AnyStateMachine): AnyStateMachine {
  const maxIterations = Math.min(options?.maxIterations ?? Number.POSITIVE_INFINITY, mostMicrosteps)
  return new StateMachine({ ...config, options: { ...options, maxIterations } }, implementations)
}

function begin(machine: AnyStateMachine, input: unknown, example: unknown): Moved {
  const [snapshot, actions] = beginningOf(machine, input, example)
  if (snapshot.status === 'error') throw cannotBegin(snapshot.error, input, example)
  return { snapshot, step: { ...shown(snapshot), accepted: true, took: [], refused: [], asked: askedOf(actions) } }
}

function beginningOf(
  machine: AnyStateMachine,
  input: unknown,
  example: unknown,
): readonly [AnyMachineSnapshot, readonly object[]] {
  try {
    const [first, actions] = initialTransition(machine, input as never)
    return [first as AnyMachineSnapshot, actions]
  } catch (error) {
    throw cannotBegin(error, input, example)
  }
}

function cannotBegin(error: unknown, input: unknown, example: unknown): LandfallError {
  const lacks = lacking(input, example)
  const reason =
    lacks.length === 0
      ? reasonOf(error)
      : `its first event is a fact like the one that it is shown with, and this one lacks ${lacks.join(', ')}.`
  const what = input === undefined ? 'The chart cannot begin' : 'The chart cannot begin with this input'
  return new LandfallError('INVALID_INPUT', `${what}: ${reason}`, { details: { field: 'input' } })
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
    const { step } = playEvent(chart.machine, edges, { snapshot, event: event as SimulatedEvent })
    const leads = step.error !== undefined ? 'error' : step.accepted ? 'on' : 'nowhere'
    return { label, event: event as SimulatedEvent, leads }
  })
}
