import type { Fact, FactOf } from './facts.ts'
import type { TaskRecord, World } from './world.ts'

/** What a task may use, has loaded and has active, after a fact about one of its capabilities. */
export function withCapability(record: TaskRecord, fact: Fact): TaskRecord {
  switch (fact.type) {
    case 'grant.reduced':
      return { ...record, grants: { ...record.grants, [fact.data.id]: fact.data.after } }
    case 'capability.loaded':
      return { ...record, loaded: [...record.loaded, fact.data.ref.id] }
    case 'capability.activated':
      return { ...record, active: [...record.active, activated(fact)] }
    case 'capability.released':
      return { ...record, active: record.active.filter(({ id }) => id !== fact.data.ref.id) }
    default:
      return record
  }
}

function activated({ data, step }: FactOf<'capability.activated'>): TaskRecord['active'][number] {
  return { id: data.ref.id, scope: data.scope, bytes: data.bytes, digest: data.content, step }
}

/** One episode of a task is open at a time; its end is told by the newest answer. */
export function reduceEpisode(world: World, fact: FactOf<'episode.started'> | FactOf<'episode.ended'>): void {
  const { episode, kind } = fact.data
  const record = world.taskRecords.get(fact.task ?? '')
  if (record === undefined) return
  if (fact.type === 'episode.started') {
    world.episodes.set(episode, { kind, basedOn: fact.data.basedOn ?? [], concludedBy: null })
    world.taskRecords.set(record.id, { ...record, episode })
    return
  }
  const open = world.episodes.get(episode)
  if (open !== undefined) world.episodes.set(episode, { ...open, concludedBy: record.lastAnswer })
  world.taskRecords.set(record.id, { ...record, episode: null })
}
