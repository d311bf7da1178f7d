import type { MessageId } from './vocabulary.ts'

/** A part of a turn that the planner itself has bounded: it explored something, or acted on what it found. */
export interface EpisodeRecord {
  readonly kind: 'exploration' | 'action'
  readonly basedOn: readonly string[]
  /** The answer that ended it, with its conclusion; null while it is open. */
  readonly concludedBy: MessageId | null
}
