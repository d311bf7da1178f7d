import type { Limits } from '../facts/limits.ts'
import type { ModelError, Random } from '../facts/ports.ts'

const firstBackoffMs = 500
const longestBackoffMs = 30_000
const mostJitterMs = 1_000

/** What is done about a request that failed: asked again after a wait, or given up; then `reason` says why, where the failure does not. */
export interface NextAttempt {
  readonly waitMs: number | null
  readonly reason?: string
}

export interface AttemptOf {
  readonly attempt: number
  readonly failure: ModelError
  readonly limits: Limits
  readonly random: Random
}

/**
 * Asking again is for the provider to allow, and it may name the wait. It is never cut short; a wait beyond the limit ends the turn,
 * because who waits for it is served better by being told. Every wait is jittered, so that those that were sent away together
 * do not come back together.
 */
export function nextAttempt({ attempt, failure, limits, random }: AttemptOf): NextAttempt {
  const { retryable, retryAfterMs, reason = '' } = failure
  if (!retryable || attempt >= limits.modelAttempts) return { waitMs: null }
  // What is no time was not said.
  if (typeof retryAfterMs !== 'number' || !(retryAfterMs >= 0)) return { waitMs: backoffMs(attempt, random) }
  if (retryAfterMs > limits.retryAfterMs) {
    const [asked, most] = [secondsOf(retryAfterMs), secondsOf(limits.retryAfterMs)]
    const why = `The provider asks for a wait of ${asked}; at most ${most} are waited (retryAfterMs).`
    return { waitMs: null, reason: `${why} ${reason}`.trim() }
  }
  return { waitMs: Math.ceil(retryAfterMs + Math.min(mostJitterMs, retryAfterMs / 10) * random.next()) }
}

/** Twice as long each time, up to a bound, of which the second half is left to chance. */
function backoffMs(attempt: number, random: Random): number {
  const ceiling = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1))
  return Math.round(ceiling / 2 + (ceiling / 2) * random.next())
}

function secondsOf(ms: number): string {
  return ms <= Number.MAX_SAFE_INTEGER ? `${ms / 1_000} s` : 'more seconds than can be told'
}
