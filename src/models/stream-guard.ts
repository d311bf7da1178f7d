import type { Clock, Scheduler } from '../facts/ports.ts'

/*
 * Owns the two ways in which a stream is cut from outside: the caller's signal and the idle deadline.
 * 1. A cut is final: the first reason stands and every later `next` rejects with it.
 * 2. `next` settles as soon as there is a cut, whether or not the stream ever answers.
 * 3. Nothing is left behind: `close` removes the listener and the timer.
 */
export interface StreamGuard {
  /** Given to the model: aborted by a cut of either kind. */
  readonly signal: AbortSignal
  next<T>(pull: () => Promise<T>): Promise<T>
  cut(reason: unknown): void
  close(): void
}

export interface GuardOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly idleMs: number
  readonly timedOut: () => Error
}

export function guardStream(options: GuardOptions): StreamGuard {
  const { clock, scheduler, idleMs } = options
  const controller = new AbortController()
  let rejectNext: ((reason: unknown) => void) | null = null
  let lastSign = clock.now()

  const cut = (reason: unknown): void => {
    controller.abort(reason)
    rejectNext?.(reason)
  }
  const abort = (): void => cut(options.signal.reason)
  // One timer for the whole stream: it looks whether something came since it was armed, instead of being armed for each chunk.
  const watch = (): void => {
    if (clock.now() - lastSign >= idleMs) cut(options.timedOut())
    else cancelTimer = scheduler.at(lastSign + idleMs, watch)
  }
  let cancelTimer = scheduler.at(lastSign + idleMs, watch)
  options.signal.addEventListener('abort', abort, { once: true })
  if (options.signal.aborted) abort()

  return {
    signal: controller.signal,
    cut,
    next: (pull) =>
      new Promise((resolve, reject) => {
        if (controller.signal.aborted) return reject(controller.signal.reason)
        rejectNext = reject
        pull().then((value) => {
          lastSign = clock.now()
          resolve(value)
        }, reject)
      }),
    close() {
      rejectNext = null
      cancelTimer()
      options.signal.removeEventListener('abort', abort)
    },
  }
}
