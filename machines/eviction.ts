import type { ContentAt } from './content-at.ts'
import type { EpisodeRecord } from './episode.ts'
import type { FactOf } from './facts.ts'
import {
  isMessage,
  isNote,
  type MessageRecord,
  noteOfNewestTurn,
  type Rank,
  type RollingNote,
  ranks,
  tailIndex,
  type ViewEntry,
} from './view.ts'

/** What stands or falls together: an answer with its calls and all their results, a message alone, or an ended episode. */
export interface Group {
  /** Indexes of its entries, ascending. */
  readonly members: readonly number[]
  readonly rank: Rank
  /** Among those of one rank: actions before the explorations that they rest on. */
  readonly later: number
}

type Episodes = ReadonlyMap<string, EpisodeRecord>

/** Beginnings of user messages that the rolling note quotes. */
export const quotedInNote = 8

/** The groups before the tail that may be left out, in the order in which they are: by rank, oldest first. */
export function evictionOrder(entries: readonly ViewEntry[], tailStart: number, episodes: Episodes): readonly Group[] {
  const plain: Group[] = []
  const ended = new Map<string, number[]>()
  for (const members of groupsBefore(entries, tailIndex(entries, tailStart))) {
    const head = entries[members[0] ?? 0] as MessageRecord
    const episode = head.role === 'user' ? undefined : episodes.get(head.episode ?? '')
    if (episode?.concludedBy === head.id) continue
    if (episode === undefined || episode.concludedBy === null || head.episode === null)
      plain.push({ members, rank: groupRank(entries, members), later: 0 })
    else ended.set(head.episode, [...(ended.get(head.episode) ?? []), ...members])
  }
  const whole = [...ended].map(
    ([id, members]): Group => ({
      members,
      rank: ranks.episode,
      later: episodes.get(id)?.kind === 'action' ? 0 : 1,
    }),
  )
  return [...plain, ...whole].sort((a, b) => a.rank - b.rank || a.later - b.later || first(a) - first(b))
}

function first(group: Group): number {
  return group.members[0] ?? 0
}

function groupsBefore(entries: readonly ViewEntry[], end: number): readonly number[][] {
  const groups: number[][] = []
  const stays = noteOfNewestTurn(entries)
  for (let at = 0; at < end; ) {
    const entry = entries[at] as ViewEntry
    const members = [at]
    at += 1
    if (!isMessage(entry) || stays(entry)) continue
    for (let next = entries[at]; next !== undefined && isMessage(next) && next.role === 'tool'; next = entries[at]) {
      members.push(at)
      at += 1
    }
    groups.push(members)
  }
  return groups
}

function groupRank(entries: readonly ViewEntry[], members: readonly number[]): Rank {
  const [head, ...results] = members.map((at) => entries[at] as MessageRecord)
  if (results.length === 0) return head?.role === 'user' ? ranks.user : ranks.text
  return results.reduce<Rank>((rank, result) => Math.max(rank, result.rank) as Rank, ranks.write)
}

/** Leaves out whole groups in their order until so many messages are gone. The same input gives the same view. */
export function evict(
  entries: readonly ViewEntry[],
  compaction: Pick<FactOf<'context.compacted'>['data'], 'tailStart' | 'dropped'>,
  episodes: Episodes,
): ViewEntry[] {
  const gone = new Set<number>()
  for (const group of evictionOrder(entries, compaction.tailStart, episodes)) {
    if (gone.size >= compaction.dropped) break
    for (const at of group.members) gone.add(at)
  }
  const kept: ViewEntry[] = []
  const folded: MessageRecord[] = []
  let note: RollingNote | null = null
  for (const [at, entry] of entries.entries()) {
    if (isNote(entry)) note = entry
    else if (!gone.has(at)) kept.push(entry)
    else if (isMessage(entry) && entry.role === 'user') folded.push(entry)
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
