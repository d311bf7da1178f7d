import type { World } from '../../machines/world.ts'
import { usableInput } from '../context/budget.ts'
import { needed } from './expand-messages.ts'
import type { Host } from './options.ts'

/** Whether a capability's text has room beside what every request carries already. */
export interface Room {
  readonly fits: boolean
  readonly need: number
  readonly margin: number
  readonly ceiling: number
}

/** `occupied`: the base of a request with everything that is active; `more`: what the candidate adds. */
export function roomFor(of: { world: World; host: Host }, occupied: number, more: number): Room {
  const policy = needed(of.world.session, 'session').context.settings.context
  const margin = of.host.limits.admissionMarginTokens
  const ceiling = usableInput(policy)
  return { fits: occupied + more + margin <= ceiling, need: occupied + more, margin, ceiling }
}
