import type { StoredFact } from '../../../facts/envelope.ts'
import type { SessionView } from '../session-view.ts'
import type { TaskView } from '../task-view.ts'

/** Background tasks have a lane of their own, all turns share that of the session (page 2, Background tasks). */
export function laneOf(task: TaskView | undefined): string {
  return task?.kind === 'background' ? task.id : 'session'
}

export function foldContext(view: SessionView, fact: StoredFact): void {
  const task = fact.task === null ? undefined : view.tasks.get(fact.task)
  switch (fact.type) {
    case 'context.checkpoint': {
      const { version, tailStart } = fact.data
      view.summaries.set(laneOf(task), version)
      view.step.checkpoints.set(laneOf(task), { seq: fact.seq, tailStart })
      return
    }
    case 'context.compacted':
      view.step.checkpoints.delete(laneOf(task))
      return
    case 'budget.warning':
      view.warned.add(warningKey(fact))
      return
    case 'episode.started':
      if (task !== undefined) task.episode = { id: fact.data.episode, kind: fact.data.kind }
      return
    case 'episode.ended':
      if (fact.data.kind === 'exploration') view.explorations.add(fact.data.episode)
      if (task !== undefined) task.episode = null
      return
    case 'capability.activated':
      task?.skills.set(fact.data.ref.id, { scope: fact.data.scope, carried: null })
      return
    case 'capability.released':
      task?.skills.delete(fact.data.ref.id)
      return
    default:
      return
  }
}

/** A warning is of the session's budget, or of a bound of one task; a budget that was changed may warn anew. */
export function warningKey(fact: StoredFact & { type: 'budget.warning' }): string {
  const { what, percent, limit } = fact.data
  return `${what} ${percent} ${limit} ${what === 'tokens' ? '' : fact.task}`
}
