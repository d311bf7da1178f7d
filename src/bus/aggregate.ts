import type { Time } from '../../machines/vocabulary.ts'
import { unpackStep } from '../facts/codec.ts'
import type { StoredFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import type { Log, StoredStep } from '../facts/log-port.ts'
import type { Scheduler } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { systemScheduler } from '../facts/system-ports.ts'
import { requireScope } from './identity.ts'
import { Interest } from './interest.ts'

export interface AggregateOptions {
  readonly windowMs: number
  readonly bucketMs: number
  readonly types?: readonly string[] | undefined
  /** The end of the window, ms since the epoch. */
  readonly now: number
  /** Gives others a turn while a long session is read. */
  readonly scheduler?: Scheduler
}

/** Facts later than `from` and not later than `to`. */
export interface Bucket {
  readonly from: Time
  readonly to: Time
  readonly count: number
}

/** seqs looked at in one go, from the newest backwards. */
const stretch = 512

/**
 * How many facts of a session fell into each bucket of the window that ends now; buckets are contiguous, empty ones are there.
 * The log is read from its end, until a whole stretch lies before the window: clocks of owners differ by less than that.
 */
export async function aggregate(log: Log, given: unknown, options: AggregateOptions): Promise<readonly Bucket[]> {
  const scope = requireScope(given)
  const interest = new Interest({ types: options.types })
  const starts = bucketStarts(options)
  const counts = starts.map(() => 0)
  const scheduler = options.scheduler ?? systemScheduler()
  const start = options.now - options.windowMs
  let high = (await log.head(scope))?.seq ?? 0
  while (high > 0) {
    const low = Math.max(0, high - stretch)
    let recent = false
    for (const fact of await factsBetween(log, scope, low, high)) {
      const at = Date.parse(fact.at)
      if (at <= start) continue
      recent = true
      if (at > options.now || !interest.wants(fact)) continue
      const bucket = counts.length - 1 - Math.floor((options.now - at) / options.bucketMs)
      counts[bucket] = (counts[bucket] ?? 0) + 1
    }
    if (!recent) break
    high = low
    await new Promise<void>((resolve) => scheduler.soon(resolve))
  }
  return starts.map((from, index) => ({
    from: timeText(from),
    to: timeText(starts[index + 1] ?? options.now),
    count: counts[index] ?? 0,
  }))
}

/** Whole buckets end now; the oldest is shorter when the window is no multiple. */
function bucketStarts({ windowMs, bucketMs, now }: AggregateOptions): number[] {
  for (const [field, value] of Object.entries({ windowMs, bucketMs })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new LandfallError('INVALID_INPUT', `Give '${field}' as a whole number of milliseconds of at least 1.`, {
        details: { field },
      })
    }
  }
  const got = Math.ceil(windowMs / bucketMs)
  if (got > limits.pageMaxItems) {
    throw new LandfallError('LIMIT_EXCEEDED', 'The window has too many buckets. Take larger ones.', {
      details: { which: 'pageMaxItems', bound: limits.pageMaxItems, got },
    })
  }
  return Array.from({ length: got }, (_, index) => Math.max(now - windowMs, now - (got - index) * bucketMs))
}

/** Facts with low < seq ≤ high. */
async function factsBetween(log: Log, scope: Scope, low: number, high: number): Promise<StoredFact[]> {
  const facts: StoredFact[] = []
  let after = low
  while (after < high) {
    const steps = await log.read(scope, { after, limit: 64 })
    const last = steps.at(-1)
    if (last === undefined) break
    for (const step of steps)
      for (const fact of unpacked(step)) if (fact.seq > low && fact.seq <= high) facts.push(fact)
    after = last.firstSeq + last.count - 1
  }
  return facts
}

function unpacked(step: StoredStep): StoredFact[] {
  return unpackStep(step, { validate: false })
}

function timeText(ms: number): Time {
  return new Date(ms).toISOString()
}
