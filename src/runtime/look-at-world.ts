import type { World } from '../../machines/world.ts'
import type { Scope } from '../facts/scope.ts'
import { loadNewest } from './load-world.ts'
import type { Mailbox } from './mailbox.ts'
import type { Services } from './services.ts'
import type { Held } from './session-hold.ts'

/** The folded state of now: what this runtime has in memory when it works on the session, and the log otherwise. */
export async function lookAtWorld<T>(
  services: Pick<Services, 'host'>,
  scope: Scope,
  reach: { readonly known: () => Pick<Mailbox, 'read'> | null },
  look: (world: World) => T,
): Promise<T> {
  const live = reach.known()
  if (live !== null) {
    const found = await live.read((held: Held) => ({ value: look(held.world) }))
    if (found !== null) return found.value
  }
  const { world } = await loadNewest(services.host.log, scope)
  return look(world)
}
