import type { AnyStateMachine } from 'xstate'
import type { FactType } from '../../machines/facts.ts'
import { callMachine, taskMachine } from '../../machines/public.ts'
import type { LivingTask } from '../../machines/session-context.ts'
import type { CallPhase } from '../../machines/task-context.ts'
import { chartEdges } from '../../src/inspector/chart-edges.ts'

/**
 * A fact is written only when every chart that it concerns accepts it. A chart that is walked alone is therefore offered a fact
 * of a task or a call only where the chart of that task or call has a transition for it; otherwise it would pass for reachable
 * what no session can reach.
 */
const taskStates: Readonly<Record<LivingTask['phase'], readonly string[]>> = {
  pending: ['pending'],
  started: ['running', 'paused'],
  cancelling: ['cancelling', 'quiescing'],
}

export function taskAccepts(phase: LivingTask['phase'], type: FactType): boolean {
  return taskStates[phase].some((state) => ownEvents(taskMachine, state).has(type))
}

export function callAccepts(phase: CallPhase, type: FactType): boolean {
  return phase !== 'settled' && ownEvents(callMachine, phase).has(type)
}

const read = new Map<string, ReadonlySet<string | null>>()

/** What a top state and the states inside it take, other than facts about descendants. */
function ownEvents(machine: AnyStateMachine, state: string): ReadonlySet<string | null> {
  const key = `${machine.id}.${state}`
  const known = read.get(key)
  if (known !== undefined) return known
  const own = chartEdges(machine).filter(({ source, guard }) => source.path[0] === state && guard !== 'isDescendants')
  const events = new Set(own.map(({ event }) => event))
  read.set(key, events)
  return events
}
