import { createContext, Script } from 'node:vm'

/*
 * A schema of a server is a program of a kind: a pattern may backtrack for ever, and references may double the work with every
 * step. No reading of it tells for certain beforehand, so its work is watched and broken off. The time is real time, counted by
 * the engine beside the work, because no timer of ours runs while it lasts.
 */
const place = createContext({ work: null }) as { work: (() => unknown) | null }
const script = new Script('work()')

/** What the work gives, or null when it was broken off. Work must leave nothing half done that is used again. */
export function withinTime<T>(ms: number, work: () => T): { readonly value: T } | null {
  const before = place.work
  place.work = work
  try {
    return { value: script.runInContext(place, { timeout: ms }) as T }
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
    throw error
  } finally {
    place.work = before
  }
}
