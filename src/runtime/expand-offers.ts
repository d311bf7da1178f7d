import type { AgendaItem } from '../../machines/agenda.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import { resultOf, toldResult } from './background-results.ts'
import { added } from './expand-messages.ts'
import type { Step } from './step.ts'

/** Background tasks that ended when nobody above them was left to wait: the turn that begins now is told, once. */
export function offerResults(step: Step, task: TaskId): readonly AgendaItem[] {
  const { bodies, world } = step.base
  return [...world.unoffered].flatMap((from): readonly AgendaItem[] => {
    const message = step.newId()
    const told = JSON.stringify(toldResult(bodies, world, resultOf(world, from)))
    const text = `A background task of an earlier turn has ended since: ${told}`
    return [
      added(step, { task, role: 'system', message }, text),
      { type: 'result.offered', task, data: { from, message } },
    ]
  })
}
