import type { Bus } from '../bus/bus.ts'
import type { Scope } from '../facts/scope.ts'
import type { Committer } from './committer.ts'
import type { Ended } from './ended.ts'
import type { Host } from './options.ts'

/** What all sessions of one runtime share. */
export interface Services {
  readonly host: Host
  readonly committer: Committer
  readonly bus: Bus
  /** Version of the control stream that this process has seen last. */
  readonly control: { readonly version: number; refresh(): Promise<void> }
  readonly onEnd: (scope: Scope, ended: Ended) => void
  /** Until when this runtime's lease stands; an effect does not start after it. */
  readonly lease: { readonly until: number; renew(): Promise<void> }
}
