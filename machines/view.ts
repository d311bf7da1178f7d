import type { ContentAt } from './content-at.ts'
import type { CallId, Digest, Effect, MessageId, TaskId } from './vocabulary.ts'

export interface MessageRecord extends ContentAt {
  readonly id: MessageId
  readonly seq: number
  readonly task: TaskId
  readonly role: 'user' | 'assistant' | 'tool' | 'system'
  readonly bytes: number
  readonly toolCalls: readonly { readonly call: CallId; readonly name: string }[]
  readonly forCall: CallId | null
  readonly synthetic: boolean
  /** For a tool message: how early its group may be left out. */
  readonly rank: Rank
  /** The episode that was open when it was added. */
  readonly episode: string | null
  /** Shown as a reference and a preview; the whole is in the content store. */
  readonly observed: boolean
}

/** One rolling note that stands for the user messages which were left out. */
export interface RollingNote {
  readonly note: true
  /** Newest last; older ones are counted only. */
  readonly kept: readonly ContentAt[]
  readonly count: number
}

/** One message of a model that stands for everything older than the tail. */
export interface SummaryNote extends ContentAt {
  readonly summary: true
  /** nth summary of its lane, from 1. */
  readonly version: number
  /** Newest task whose answers and tool traffic it may tell of; null: it tells of none. */
  readonly of: TaskId | null
}

export type ViewEntry = MessageRecord | RollingNote | SummaryNote

/** What requests of one lane show of the conversation. Grows in place; a compaction makes new entries and a new generation. */
export interface View {
  entries: ViewEntry[]
  generation: number
  /** A summary that the next compaction puts in place. */
  checkpoint: SummaryNote | null
}

export function newView(entries: ViewEntry[] = []): View {
  return { entries, generation: 0, checkpoint: null }
}

/** Left out first: what was changed can be read again, what was read can be read again, what failed taught something. */
export const ranks = { write: 0, read: 1, command: 2, error: 3, text: 4, episode: 5, user: 6 } as const
export type Rank = (typeof ranks)[keyof typeof ranks]

export function isNote(entry: ViewEntry): entry is RollingNote {
  return 'note' in entry
}

export function isSummary(entry: ViewEntry): entry is SummaryNote {
  return 'summary' in entry
}

export function isMessage(entry: ViewEntry): entry is MessageRecord {
  return 'role' in entry
}

/** What of a call decides how long its result is kept. */
interface EndedCall {
  readonly name: string
  readonly effect: Effect | null
  readonly finished: { readonly outcome: 'succeeded' | 'failed' } | null
}

/** Planner tools have no record of a call: what they told can be asked for again. */
export function rankOfResult(call: EndedCall | undefined, isPlanned: boolean): Rank {
  if (isPlanned) return ranks.read
  if (call === undefined || call.finished?.outcome !== 'succeeded') return ranks.error
  if (call.name === 'process.exec') return ranks.command
  return call.effect === 'read' ? ranks.read : ranks.write
}

/**
 * The first seq of the tail: the last so many messages, moved back so that no answer is parted from its results.
 * Entries are never renumbered, so this seq says the same for ever.
 */
export function tailStartOf(entries: readonly ViewEntry[], tailMessages: number): number {
  let at = Math.max(0, entries.length - tailMessages)
  while (at > 0 && isResult(entries[at])) at -= 1
  const first = entries[at]
  return first === undefined ? Number.MAX_SAFE_INTEGER : isMessage(first) ? first.seq : 0
}

function isResult(entry: ViewEntry | undefined): boolean {
  return entry !== undefined && isMessage(entry) && entry.role === 'tool'
}

/**
 * Which system messages stay whatever is left out or summarised: those of the turn that goes on, the newest one. What an earlier
 * turn was told when it started is part of the older conversation like all else; kept for ever, such notes alone would fill the window.
 */
export function noteOfNewestTurn(entries: readonly ViewEntry[]): (entry: ViewEntry) => boolean {
  const newest = entries.findLast(isMessage)?.task
  return (entry) => isMessage(entry) && entry.role === 'system' && entry.task === newest
}

/** Where the tail begins in these entries. */
export function tailIndex(entries: readonly ViewEntry[], tailStart: number): number {
  const at = entries.findIndex((entry) => isMessage(entry) && entry.seq >= tailStart)
  return at < 0 ? entries.length : at
}

/** What a rolling digest takes of an entry. */
export function digestOfEntry(entry: ViewEntry): Digest {
  if (isNote(entry)) return `note:${entry.count}:${entry.kept.map((place) => place.digest).join(',')}`
  if (isSummary(entry)) return `summary:${entry.version}:${entry.digest}`
  return entry.observed ? `observed:${entry.digest}` : entry.digest
}
