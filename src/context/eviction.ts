import type { FactOf } from '../../machines/facts.ts'
import { evict, evictionOrder, tailStartOf, type ViewEntry } from '../../machines/view.ts'

/** Rank and age decide what is left out, nothing else: the same conversation is always compacted in the same way. */
export const evictionAlgorithm = 'evict/v1'

export interface EvictionQuestion {
  readonly entries: readonly ViewEntry[]
  /** Occupancy of an entry as it is sent; bytes. */
  readonly sizeOf: (entry: ViewEntry) => number
  readonly occupancy: number
  /** What the view should come down to; well below the threshold, so that a compaction is rare. */
  readonly target: number
  readonly tailMessages: number
}

/** The compaction to commit, or null when leaving messages out would not help. */
export function planEviction(question: EvictionQuestion): FactOf<'context.compacted'>['data'] | null {
  const { entries, sizeOf, occupancy, target, tailMessages } = question
  const tailStart = tailStartOf(entries, tailMessages)
  let dropped = 0
  let left = occupancy
  for (const group of evictionOrder(entries, tailStart)) {
    if (left <= target) break
    for (const entry of entries.slice(group.first, group.first + group.count)) left -= sizeOf(entry)
    dropped += group.count
  }
  const before = { messages: entries.length, bytes: sum(entries, sizeOf) }
  const plan = {
    algorithm: evictionAlgorithm,
    tailStart,
    dropped,
    observed: 0,
    messagesBefore: before.messages,
    messagesAfter: 0,
    bytesBefore: before.bytes,
    bytesAfter: 0,
  }
  const kept = evict(entries, plan)
  const after = { messages: kept.length, bytes: sum(kept, sizeOf) }
  if (after.messages >= before.messages || after.bytes >= before.bytes) return null
  return { ...plan, messagesAfter: after.messages, bytesAfter: after.bytes }
}

function sum(entries: readonly ViewEntry[], sizeOf: (entry: ViewEntry) => number): number {
  let total = 0
  for (const entry of entries) total += sizeOf(entry)
  return total
}
