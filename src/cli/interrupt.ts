import { exitCodes } from './exit-codes.ts'

/**
 * Owns the handling of SIGINT during a turn.
 * 1. The first one cancels, durably, as soon as there is something to cancel.
 * 2. The second one ends the process at once; the log stays as it is, as after any crash.
 */
export class Interrupt {
  #count = 0
  #cancel: (() => void) | null = null
  readonly #handler = () => {
    this.#count += 1
    if (this.#count > 1) process.exit(exitCodes.cancelled)
    this.#cancel?.()
  }

  constructor() {
    process.on('SIGINT', this.#handler)
  }

  /** From now on there is something to cancel. */
  arm(cancel: () => void): void {
    this.#cancel = cancel
    if (this.#count > 0) cancel()
  }

  release(): void {
    process.off('SIGINT', this.#handler)
  }
}
