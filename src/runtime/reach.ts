import type { SessionProjection } from './actors/session-projection.ts'
import type { Ended } from './ended.ts'
import type { LiveSession } from './live-session.ts'

/** How a session handle reaches the live session of its runtime. */
export interface Reach {
  /** The live session, made when there is none. */
  readonly live: () => LiveSession
  /** The live session, if this runtime works on it already. */
  readonly known: () => LiveSession | null
  /** The session's actors, made when they are first asked for. */
  readonly actors: () => SessionProjection
  readonly ended: (task: string) => { promise: Promise<Ended | null>; cancel: () => void }
}
