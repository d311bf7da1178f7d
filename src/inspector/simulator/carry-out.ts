import type { Intent } from '../../../machines/agenda.ts'
import type { Fact } from '../../../machines/facts.ts'
import type { CommandReceipt } from './command-receipt.ts'
import type { AskedAction } from './explain.ts'
import { type GivenCommand, planCommand } from './plan-command.ts'
import type { SimulatedWorld } from './simulated-world.ts'

export interface CarriedOut {
  readonly receipt: CommandReceipt
  /** Facts that the chart hears of which is tried out; of a refused command the one that was offered. */
  readonly facts: readonly Fact[]
  /** What a runtime would do once they are durable. */
  readonly asked: readonly AskedAction[]
}

/** Carries a command out as a runtime does, whole step and all, on the world around a chart. */
export function carryOut(around: SimulatedWorld, given: unknown): CarriedOut {
  const planned = planCommand(around, given)
  const command = String((given as GivenCommand).name)
  if ('code' in planned) {
    const { code, message } = planned
    const offered =
      planned.offered === null ? [] : [around.next(planned.offered)].filter((fact) => around.concerns(fact))
    return { receipt: { command, result: 'refused', code, message, drafted: [] }, facts: offered, asked: [] }
  }
  const facts: Fact[] = []
  const intents: Intent[] = []
  for (const fact of planned.facts) {
    if (around.concerns(fact)) facts.push(fact)
    intents.push(...around.fold(fact).intents)
  }
  const drafted = planned.facts.map(({ type }) => type)
  const receipt: CommandReceipt = { command, result: planned.result, code: null, message: null, drafted }
  return { receipt, facts, asked: intents.map(({ type, ...params }) => ({ type, params })) }
}

/** Code of the refusal that a command would meet now; null for none. The world stays as it is. */
export function refusalNow(around: SimulatedWorld, command: GivenCommand): string | null {
  const planned = planCommand(around, command)
  return 'code' in planned ? planned.code : null
}
