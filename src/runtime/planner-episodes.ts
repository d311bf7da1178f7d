import type { PlannerInput } from '../capabilities/planner-tools.ts'
import { type Asked, failed, type Performed } from './planner-result.ts'

/** One is open at a time; an action rests on explorations that have ended with a conclusion. */
export function startEpisode(asked: Asked, input: PlannerInput<'episode_start'>): Performed {
  const { record, step, task } = asked
  const { kind, basedOn = [] } = input
  if (record.episode !== null)
    return failed('EPISODE_OPEN', 'An episode is open. End it before the next one begins.', { episode: record.episode })
  const { episodes } = step.world
  const unfit = basedOn.filter((id) => {
    const base = episodes.get(id)
    return base?.kind !== 'exploration' || base.concludedBy === null
  })
  if (unfit.length > 0)
    return failed('INVALID_ARGUMENTS', 'basedOn names what is no ended exploration.', { basedOn: unfit })
  if (kind === 'action' && basedOn.length === 0)
    return failed('INVALID_ARGUMENTS', 'An action rests on at least one ended exploration: name it in basedOn.')
  const episode = step.newId()
  const data = { episode, kind, ...(basedOn.length === 0 ? {} : { basedOn }) }
  return { facts: [{ type: 'episode.started', task, data }], result: { episode } }
}

export function endEpisode(asked: Asked, { conclusion }: PlannerInput<'episode_end'>): Performed {
  const { record, step, task } = asked
  const open = record.episode === null ? undefined : step.world.episodes.get(record.episode)
  if (record.episode === null || open === undefined) return failed('EPISODE_NOT_OPEN', 'No episode is open.')
  if (open.kind === 'exploration' && conclusion === undefined)
    return failed('INVALID_ARGUMENTS', 'An exploration ends with a conclusion.')
  const { kind } = open
  const data = {
    episode: record.episode,
    kind,
    ...(conclusion === undefined ? {} : { conclusion: step.put(conclusion).digest }),
  }
  return { facts: [{ type: 'episode.ended', task, data }], result: { ended: record.episode } }
}
