import type { Bus } from '../bus/bus.ts'
import type { Scope } from '../facts/scope.ts'
import type { Committer } from './committer.ts'
import type { ControlStream } from './control-stream.ts'
import type { Ended } from './ended.ts'
import type { Host } from './options.ts'

/** What all sessions of one runtime share. */
export interface Services {
  readonly host: Host
  readonly committer: Committer
  readonly bus: Bus
  readonly control: ControlStream
  readonly isClosing: () => boolean
  /** Ownership of a session is lost: who waits for its tasks here must look elsewhere. */
  readonly onLost: (scope: Scope) => void
  readonly onEnd: (scope: Scope, ended: Ended) => void
  /** Until when this runtime's lease stands; an effect does not start after it. */
  readonly lease: { readonly until: number; renew(): Promise<void> }
}
