import type { EpisodeRecord } from './episode.ts'
import { evict } from './eviction.ts'
import type { FactOf } from './facts.ts'
import {
  isMessage,
  isSummary,
  type MessageRecord,
  noteOfNewestTurn,
  type SummaryNote,
  tailIndex,
  type View,
  type ViewEntry,
} from './view.ts'

/** The ways to make a view smaller, by the names and versions that facts give them. What each name does never changes. */
export const algorithms = { observe: 'observe/v1', summarise: 'summarise/v1', evict: 'evict/v1' } as const

const leastObserved = 1_024
const mostObserved = 8_192

/** Bytes beyond which a tool output becomes an observation: the same for ever under one window. */
export function observedBeyond(windowTokens: number): number {
  return Math.max(leastObserved, Math.min(mostObserved, Math.floor(windowTokens / 16)))
}

export function isObservable(entry: ViewEntry, beyond: number): entry is MessageRecord {
  return isMessage(entry) && entry.role === 'tool' && !entry.observed && entry.bytes > beyond
}

/** Large outputs as references, the newest one too. */
export function observe(entries: readonly ViewEntry[], beyond: number): ViewEntry[] {
  return entries.map((entry) => (isObservable(entry, beyond) ? { ...entry, observed: true } : entry))
}

/** What a summary is to tell of: everything before the tail but the system messages of the turn that goes on, which stay. */
export function summarised(entries: readonly ViewEntry[], tailStart: number): readonly ViewEntry[] {
  const stays = noteOfNewestTurn(entries)
  return entries.slice(0, tailIndex(entries, tailStart)).filter((entry) => !stays(entry))
}

/** System messages of the turn that goes on, the one summary, and the tail as it was. */
export function summarise(entries: readonly ViewEntry[], summary: SummaryNote, tailStart: number): ViewEntry[] {
  const tail = tailIndex(entries, tailStart)
  return [...entries.slice(0, tail).filter(noteOfNewestTurn(entries)), summary, ...entries.slice(tail)]
}

/** The summary of a checkpoint, as it will stand in the view. */
export function summaryOf(
  entries: readonly ViewEntry[],
  at: { digest: string; step: number; version: number; tailStart: number },
): SummaryNote {
  let of: string | null = null
  for (const entry of summarised(entries, at.tailStart))
    if (isSummary(entry)) of = entry.of ?? of
    else if (isMessage(entry) && entry.role !== 'user') of = entry.task
  const { digest, step, version } = at
  return { summary: true, digest, step, version, of }
}

/** A compaction is done again by its recorded name and numbers alone. */
export function applyCompaction(
  view: View,
  data: FactOf<'context.compacted'>['data'],
  of: { readonly windowTokens: number; readonly episodes: ReadonlyMap<string, EpisodeRecord> },
): void {
  const { algorithm, tailStart } = data
  if (algorithm === algorithms.observe) view.entries = observe(view.entries, observedBeyond(of.windowTokens))
  else if (algorithm === algorithms.summarise && view.checkpoint !== null)
    view.entries = summarise(view.entries, view.checkpoint, tailStart)
  else view.entries = evict(view.entries, data, of.episodes)
  view.checkpoint = null
  view.generation += 1
}
