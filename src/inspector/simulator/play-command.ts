import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import type { ChartEdge } from '../chart-edges.ts'
import { carryOut } from './carry-out.ts'
import { type Moved, playEvent, type SimulatedEvent, shown } from './play-event.ts'
import type { SimulatedWorld } from './simulated-world.ts'

interface Trial {
  readonly machine: AnyStateMachine
  readonly edges: readonly ChartEdge[]
  readonly around: SimulatedWorld
}

/** Plays a command: it is decided, and the facts that it drafts are played through the chart. */
export function playCommand(
  { machine, edges, around }: Trial,
  { snapshot, event }: { snapshot: AnyMachineSnapshot; event: SimulatedEvent },
): Moved {
  const { receipt, facts, asked } = carryOut(around, event.command)
  let at = snapshot
  const took: string[] = []
  const played = facts.map((fact) => {
    const moved = playEvent(machine, edges, { snapshot: at, event: fact as object as SimulatedEvent })
    if (receipt.result !== 'refused') at = moved.snapshot
    took.push(...moved.step.took)
    return moved.step
  })
  const isRefused = receipt.result === 'refused'
  return {
    snapshot: at,
    step: {
      event,
      ...shown(at),
      accepted: !isRefused,
      took: isRefused ? [] : took,
      refused: played.flatMap((step) => step.refused),
      asked,
      receipt,
    },
  }
}
