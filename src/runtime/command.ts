import type { AgendaItem } from '../../machines/agenda.ts'
import type { OperatorCommand } from '../../machines/commands.ts'
import type { Actor } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import type { ModelAnswer } from '../models/read-stream.ts'
import type { Step } from './step.ts'

export interface CommandOptions {
  /** A repeat with the same id and body returns the first receipt; with another body it is refused. */
  readonly commandId?: string
}

export type ReceiptResult = 'applied' | 'queued' | 'joined' | 'too_late' | 'duplicate'

/** What a command did, returned when its step is durable. `seq` is that of its first fact. */
export interface Receipt {
  readonly result: ReceiptResult
  readonly task?: string
  readonly seq?: number
  readonly command?: string
  readonly replacement?: string
  readonly superseded?: string
  /** The idempotency key had made this task before. */
  readonly reused?: true
  readonly group?: string
}

/** An operator's command before its content has digests: the session's key is known only where it is carried out. */
export interface OperatorRequest {
  readonly name: OperatorCommand['name']
  readonly by: Actor
  readonly commandId: string | null
  /** What a repeat of the same command id is compared with. */
  readonly body: unknown
  /** Opens the session when it was never opened. */
  readonly opens: boolean
  /** The fact that led to it, when an effect sends it. */
  readonly cause?: string | null
  readonly build: (step: Step) => OperatorCommand
}

/** A result of an effect, or of time passing. Decided in the mailbox like a command; it has no receipt. */
export interface InternalRequest {
  readonly cause: string | null
  readonly by: Actor
  readonly answer?: ModelAnswer
  readonly summary?: { readonly task: string; readonly text: string }
  readonly agenda: (step: Step, world: World) => readonly AgendaItem[]
  /** What is recorded instead when no store will ever take this result, such as one beyond a bound. */
  readonly otherwise?: InternalRequest
}
