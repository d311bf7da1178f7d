import type { AgendaItem } from '../../machines/agenda.ts'
import type { Purpose } from '../../machines/vocabulary.ts'
import type { TaskRecord, World } from '../../machines/world.ts'
import { askBudget, type BudgetAnswer } from '../context/budget.ts'
import { occupancyAlgorithm } from '../context/occupancy.ts'
import { needed } from './expand-messages.ts'
import type { Step } from './step.ts'
import { isMaxOutput } from './turn-settings.ts'

export interface Account {
  /** Stands before every request, also when the answer is no. */
  readonly accounted: AgendaItem
  readonly answer: BudgetAnswer
  readonly admitted: boolean
  readonly limit: number | null
}

/** What the window and the session's budget say to a request of so many bytes. */
export function accountFor(
  step: Step,
  record: TaskRecord,
  of: { readonly purpose: Purpose; readonly occupancy: number },
): Account {
  const { world } = step.base
  const { purpose, occupancy } = of
  const { settings } = needed(world.session, 'session').context
  const { windowTokens: window, reserveTokens: reserve } = settings.context
  const limit = settings.budget?.tokens ?? null
  const reserved = reservedTokens(world)
  const asked = purpose === 'turn' ? record.started?.settings.maxOutput : undefined
  const { used } = world
  const answer = askBudget({
    occupancy,
    reserve,
    window,
    used,
    reserved,
    limit,
    ...(isMaxOutput(asked) ? { asked } : {}),
  })
  const admitted = answer.fits && answer.affordable
  const data = { algorithm: occupancyAlgorithm, occupancy, reserve, window, admitted, purpose, used, reserved, limit }
  return { accounted: { type: 'context.accounted', task: record.id, data }, answer, admitted, limit }
}

function reservedTokens(world: World): number {
  let sum = 0
  for (const { reserved } of world.reserved.values()) sum += reserved
  return sum
}
