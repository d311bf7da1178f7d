import { algorithms } from '../../machines/compaction.ts'
import type { EpisodeRecord } from '../../machines/episode.ts'
import { evict, evictionOrder } from '../../machines/eviction.ts'
import type { FactOf } from '../../machines/facts.ts'
import { tailStartOf, type ViewEntry } from '../../machines/view.ts'

export interface EvictionQuestion {
  readonly entries: readonly ViewEntry[]
  readonly episodes: ReadonlyMap<string, EpisodeRecord>
  /** Occupancy of an entry as it is sent; bytes. */
  readonly sizeOf: (entry: ViewEntry) => number
  readonly occupancy: number
  /** What the view should come down to; well below the threshold, so that a compaction is rare. */
  readonly target: number
  /** What it must come down to. Where the tail alone is larger, less of it is kept. */
  readonly most: number
  readonly tailMessages: number
}

type Plan = FactOf<'context.compacted'>['data']

/** Messages of the tail that are kept however small the window: the newest. */
const leastTail = 1

/** The compaction to commit, or null when leaving messages out would not help. The same conversation, the same plan. */
export function planEviction(question: EvictionQuestion): Plan | null {
  let best: Plan | null = null
  for (let tail = question.tailMessages; ; tail = Math.floor(tail / 2)) {
    best = planWith(question, Math.max(leastTail, tail)) ?? best
    const left = question.occupancy - (best === null ? 0 : best.bytesBefore - best.bytesAfter)
    if (left <= question.most || tail <= leastTail) return best
  }
}

function planWith(question: EvictionQuestion, tailMessages: number): Plan | null {
  const { entries, episodes, sizeOf, occupancy, target } = question
  const tailStart = tailStartOf(entries, tailMessages)
  let dropped = 0
  let left = occupancy
  for (const group of evictionOrder(entries, tailStart, episodes)) {
    if (left <= target) break
    for (const at of group.members) left -= sizeOf(entries[at] as ViewEntry)
    dropped += group.members.length
  }
  const kept = evict(entries, { tailStart, dropped }, episodes)
  const bytes = { before: sum(entries, sizeOf), after: sum(kept, sizeOf) }
  if (kept.length >= entries.length || bytes.after >= bytes.before) return null
  return {
    algorithm: algorithms.evict,
    tailStart,
    dropped,
    observed: 0,
    messagesBefore: entries.length,
    messagesAfter: kept.length,
    bytesBefore: bytes.before,
    bytesAfter: bytes.after,
  }
}

export function sum(entries: readonly ViewEntry[], sizeOf: (entry: ViewEntry) => number): number {
  let total = 0
  for (const entry of entries) total += sizeOf(entry)
  return total
}
