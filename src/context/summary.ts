import { algorithms, summarise } from '../../machines/compaction.ts'
import type { FactOf } from '../../machines/facts.ts'
import { isMessage, isSummary, type SummaryNote, type ViewEntry } from '../../machines/view.ts'
import type { ModelMessage } from '../facts/ports.ts'
import { sum } from './eviction.ts'

/** What a summary model is told. Part of `summarise/v1`: requests of old logs are rebuilt with these words. */
export const summarySystem =
  'You keep the memory of a long conversation between a user and an assistant that uses tools. You write summaries.'

export const summaryInstruction: ModelMessage = Object.freeze({
  role: 'user',
  content:
    'Summarise the conversation above for an assistant that goes on without it. Keep what the user wants, what was decided, ' +
    'what was found out, which changes were made or failed, and what is open. Name files and ids exactly. Write nothing else.',
})

/** The summary as requests show it, in the place of what it stands for. */
export function renderSummary({ version }: SummaryNote, body: string): ModelMessage {
  return Object.freeze({ role: 'user', content: `Summary ${version} of the earlier conversation:\n${body}` })
}

/** The number of the next summary of a view. */
export function nextVersion(entries: readonly ViewEntry[]): number {
  return entries.reduce((newest, entry) => (isSummary(entry) ? Math.max(newest, entry.version) : newest), 0) + 1
}

/** seq of the newest message that a summary of these entries tells of. */
export function throughRevision(entries: readonly ViewEntry[]): number {
  return entries.reduce((newest, entry) => (isMessage(entry) ? Math.max(newest, entry.seq) : newest), 0)
}

/** The compaction that puts a summary in place, or null when the view would not get smaller by it. */
export function planSummary(
  entries: readonly ViewEntry[],
  of: { readonly summary: SummaryNote; readonly tailStart: number },
  sizeOf: (entry: ViewEntry) => number,
): FactOf<'context.compacted'>['data'] | null {
  const kept = summarise(entries, of.summary, of.tailStart)
  const bytes = { before: sum(entries, sizeOf), after: sum(kept, sizeOf) }
  if (kept.length >= entries.length || bytes.after >= bytes.before) return null
  return {
    algorithm: algorithms.summarise,
    tailStart: of.tailStart,
    dropped: entries.length - kept.length + 1,
    observed: 0,
    messagesBefore: entries.length,
    messagesAfter: kept.length,
    bytesBefore: bytes.before,
    bytesAfter: bytes.after,
  }
}
