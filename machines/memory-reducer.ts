import type { FactOf } from './facts.ts'
import type { World } from './world.ts'

/** Notes that one session may hold, unless its settings say less. */
export const memoryNotesMax = 256

/** The session's own notes. Those of users and tenants stand in the control stream, which no session folds. */
export function reduceMemory(
  world: World,
  fact: FactOf<'memory.put'> | FactOf<'memory.removed'> | FactOf<'session.erased'>,
): void {
  if (fact.type === 'session.erased') {
    world.memory.clear()
    return
  }
  const { key, scope, digest, bytes } = fact.data
  if (scope !== 'session') return
  world.memory.delete(key)
  if (fact.type === 'memory.put' && digest !== undefined)
    world.memory.set(key, { digest, step: fact.step, bytes: bytes ?? 0 })
}
