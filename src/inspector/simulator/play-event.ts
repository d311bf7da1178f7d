import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  getMicrosteps,
} from 'xstate'
import type { ChartEdge } from '../chart-edges.ts'
import type { CommandReceipt } from './command-receipt.ts'
import { type AskedAction, askedOf, type Refused, refusedBy, tookOf } from './explain.ts'
import { plainValue } from './plain-value.ts'

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
  /** What a command was answered, when the event is one. */
  readonly receipt?: CommandReceipt
}

/** Where a chart is after an event, and what is told of it. */
export interface Moved {
  readonly snapshot: AnyMachineSnapshot
  readonly step: SimulatedStep
}

/** Plays one event by pure transitions. */
export function playEvent(
  machine: AnyStateMachine,
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

/** What is shown of a snapshot. */
export function shown(snapshot: AnyMachineSnapshot): Pick<SimulatedStep, 'value' | 'active' | 'context' | 'status'> {
  const active = (snapshot._nodes as readonly AnyStateNode[]).map(({ id }) => id)
  return { value: snapshot.value, active, context: plainValue(snapshot.context), status: snapshot.status }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.split('\n').join(' ') : String(error)
}
