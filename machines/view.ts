import type { ContentAt } from './content-at.ts'
import type { FactOf } from './facts.ts'
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
}

/** One rolling note that stands for the user messages which were left out. */
export interface RollingNote {
  readonly note: true
  /** Newest last; older ones are counted only. */
  readonly kept: readonly ContentAt[]
  readonly count: number
}

export type ViewEntry = MessageRecord | RollingNote

/** What requests of one lane show of the conversation. Grows in place; a compaction makes new entries and a new generation. */
export interface View {
  entries: ViewEntry[]
  generation: number
}

/** Left out first: what was changed can be read again, what was read can be read again, what failed taught something. */
export const ranks = { write: 0, read: 1, command: 2, error: 3, text: 4, user: 5 } as const
export type Rank = (typeof ranks)[keyof typeof ranks]

/** Beginnings of user messages that the rolling note quotes. */
export const quotedInNote = 8

export function isNote(entry: ViewEntry): entry is RollingNote {
  return 'note' in entry
}

/** What of a call decides how long its result is kept. */
interface EndedCall {
  readonly name: string
  readonly effect: Effect | null
  readonly finished: { readonly outcome: 'succeeded' | 'failed' } | null
}

export function rankOfResult(call: EndedCall | undefined): Rank {
  if (call === undefined || call.finished?.outcome !== 'succeeded') return ranks.error
  if (call.name === 'process.exec') return ranks.command
  return call.effect === 'read' ? ranks.read : ranks.write
}

/** Messages that stand or fall together: an answer with its calls and all their results, or a message alone. */
export interface Group {
  readonly first: number
  readonly count: number
  readonly rank: Rank
}

/** The groups before the tail that may be left out, in the order in which they are: by rank, oldest first. */
export function evictionOrder(entries: readonly ViewEntry[], tailStart: number): readonly Group[] {
  return groupsBefore(entries, tailStart).sort((a, b) => a.rank - b.rank || a.first - b.first)
}

function groupsBefore(entries: readonly ViewEntry[], tailStart: number): Group[] {
  const groups: Group[] = []
  for (let at = 0; at < entries.length; ) {
    const entry = entries[at] as ViewEntry
    if (!isNote(entry) && entry.seq >= tailStart) break
    const count = isNote(entry) ? 1 : groupLength(entries, at)
    if (!isNote(entry) && entry.role !== 'system')
      groups.push({ first: at, count, rank: groupRank(entries, at, count) })
    at += count
  }
  return groups
}

function groupLength(entries: readonly ViewEntry[], first: number): number {
  let count = 1
  for (;;) {
    const next = entries[first + count]
    if (next === undefined || isNote(next) || next.role !== 'tool') return count
    count += 1
  }
}

function groupRank(entries: readonly ViewEntry[], first: number, count: number): Rank {
  const head = entries[first] as MessageRecord
  if (count === 1) return head.role === 'user' ? ranks.user : ranks.text
  let rank: Rank = ranks.write
  for (let at = first + 1; at < first + count; at += 1) {
    const result = entries[at] as MessageRecord
    if (result.rank > rank) rank = result.rank
  }
  return rank
}

/**
 * The first seq of the tail: the last so many messages, moved back so that no answer is parted from its results.
 * Entries are never renumbered, so this seq says the same for ever.
 */
export function tailStartOf(entries: readonly ViewEntry[], tailMessages: number): number {
  let at = Math.max(0, entries.length - tailMessages)
  while (at > 0 && isResult(entries[at])) at -= 1
  const first = entries[at]
  return first === undefined ? Number.MAX_SAFE_INTEGER : isNote(first) ? 0 : first.seq
}

function isResult(entry: ViewEntry | undefined): boolean {
  return entry !== undefined && !isNote(entry) && entry.role === 'tool'
}

/** Leaves out whole groups in their order until so many messages are gone. The same input gives the same view. */
export function evict(entries: readonly ViewEntry[], compaction: FactOf<'context.compacted'>['data']): ViewEntry[] {
  const gone = new Set<number>()
  for (const group of evictionOrder(entries, compaction.tailStart)) {
    if (gone.size >= compaction.dropped) break
    for (let at = group.first; at < group.first + group.count; at += 1) gone.add(at)
  }
  const kept: ViewEntry[] = []
  const folded: MessageRecord[] = []
  let note: RollingNote | null = null
  for (const [at, entry] of entries.entries()) {
    if (isNote(entry)) note = entry
    else if (!gone.has(at)) kept.push(entry)
    else if (entry.role === 'user') folded.push(entry)
  }
  const rolled = rollNote(note, folded)
  return rolled === null ? kept : [rolled, ...kept]
}

function rollNote(note: RollingNote | null, folded: readonly MessageRecord[]): RollingNote | null {
  if (folded.length === 0) return note
  const places = folded.map(({ digest, step }): ContentAt => ({ digest, step }))
  const kept = [...(note?.kept ?? []), ...places].slice(-quotedInNote)
  return { note: true, kept, count: (note?.count ?? 0) + folded.length }
}

/** What a rolling digest takes of an entry. */
export function digestOfEntry(entry: ViewEntry): Digest {
  return isNote(entry) ? `note:${entry.count}:${entry.kept.map((place) => place.digest).join(',')}` : entry.digest
}
