import type { Scope } from '../facts/scope.ts'
import type { InternalRequest } from './command.ts'
import type { Held } from './session-hold.ts'

/** What effects see of the session that they work for: its memory, and the one way to tell it something. */
export interface Mailbox {
  readonly scope: Scope
  readonly held: Held | null
  post(request: InternalRequest): void
}
