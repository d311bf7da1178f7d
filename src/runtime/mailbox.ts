import type { Scope } from '../facts/scope.ts'
import type { InternalRequest, OperatorRequest, Receipt } from './command.ts'
import type { Held } from './session-hold.ts'

/** What effects see of the session that they work for: its memory, and the one way to tell it something. */
export interface Mailbox {
  readonly scope: Scope
  readonly held: Held | null
  post(request: InternalRequest): void
  /** Carries out a command here or not at all: it is not handed on to another owner. */
  carryOut(request: OperatorRequest): Promise<Receipt>
  /** The state when everything before this read is durable; null when nothing is in memory. */
  read<T>(look: (held: Held) => T): Promise<T | null>
}
