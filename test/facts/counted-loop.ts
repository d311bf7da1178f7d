import type { Scheduler } from '../../src/facts/ports.ts'
import { systemScheduler } from '../../src/facts/system-ports.ts'

/** The real event loop, and how many of its turns somebody has waited for. */
export function countedLoop(): { readonly scheduler: Scheduler; readonly turn: () => number } {
  let turn = 0
  const { at, soon } = systemScheduler()
  const counted = (task: () => void) =>
    soon(() => {
      turn += 1
      task()
    })
  return { scheduler: { at, soon: counted }, turn: () => turn }
}
