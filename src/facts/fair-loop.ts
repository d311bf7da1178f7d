import type { Clock, Scheduler } from './ports.ts'

/** How long work that comes in small pieces goes on before sockets, timers and everybody else have their turn. */
const stretchMs = 5

/**
 * Owns: since when the event loop has not come round, as far as those who ask here know.
 * 1. A stretch is used up after `stretchMs`; a turn of the loop begins another one.
 * 2. Whoever has a piece to do says `while (fair.spent) await fair.turn()` directly before it. All wait for the same turn and go on in
 *    the order in which they began to wait, as many as fit into the stretch; the others find it spent and wait again.
 */
export class FairLoop {
  readonly #clock: Clock
  readonly #scheduler: Scheduler
  #begun: number
  #turn: Promise<void> | null = null

  constructor(clock: Clock, scheduler: Scheduler) {
    this.#clock = clock
    this.#scheduler = scheduler
    this.#begun = clock.now()
  }

  get spent(): boolean {
    return this.#clock.now() - this.#begun >= stretchMs
  }

  /** The next turn of the loop, which begins a new stretch. */
  turn(): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      this.#scheduler.soon(() => {
        this.#turn = null
        this.#begun = this.#clock.now()
        resolve()
      })
    })
    return this.#turn
  }
}
