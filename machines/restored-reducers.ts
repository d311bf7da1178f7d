import type { FactOf } from './facts.ts'
import { addUsage } from './task-fold.ts'
import { type MessageRecord, type Rank, ranks, type ViewEntry } from './view.ts'
import type { World } from './world.ts'

/** An entry of the view that a checkpoint holds, as the session that it was taken of had it. */
export function restoredEntry(message: MessageRecord, fact: FactOf<'message.added'>): ViewEntry {
  const { rank = ranks.text, episode, observed, summary, note } = fact.data.restored ?? {}
  const { digest, step } = message
  if (note !== undefined)
    return { note: true, count: note.count, kept: note.kept.map((kept) => ({ digest: kept, step })) }
  // It tells of turns that are over for every turn of this session, so none of them is named.
  if (summary !== undefined) return { summary: true, digest, step, version: summary, of: null }
  return { ...message, rank: rank as Rank, episode: episode ?? null, observed: observed ?? false }
}

/** What the session before it has used, warned of and concluded goes on to count. */
export function reduceRestored(world: World, { data }: FactOf<'session.restored'>): void {
  world.used += data.usage.total
  world.usage = addUsage(world.usage, data.usage)
  for (const percent of data.warned ?? []) world.warned.add(percent)
  for (const { episode, kind, basedOn = [], concludedBy = null } of data.episodes ?? [])
    world.episodes.set(episode, { kind, basedOn, concludedBy })
}
