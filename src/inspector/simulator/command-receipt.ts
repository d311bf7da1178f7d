/** What the sender of a command is told. */
export interface CommandReceipt {
  readonly command: string
  readonly result: 'applied' | 'queued' | 'joined' | 'too_late' | 'duplicate' | 'refused'
  /** Why it was refused: the stable code, and the sentence that says what to do instead. */
  readonly code: string | null
  readonly message: string | null
  /** Types of the facts that it drafts, in their order. */
  readonly drafted: readonly string[]
}

/** A command to click. */
export interface CommandChoice {
  readonly label: string
  /** Its words, to be changed by the reader. */
  readonly command: { readonly name: string }
  /** Code of its refusal now; null when it would be accepted. */
  readonly refused: string | null
}

/** The type under which a command stands among the events that are played. */
export const commandType = 'landfall.command'
