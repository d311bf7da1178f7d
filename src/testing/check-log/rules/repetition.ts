/**
 * INV-23: three consecutive identical denials end the task, three identical failures too (page 2, Calls).
 *
 * Where the pages leave room: consecutive may be meant in call order or in the order of the outcomes, so only what is
 * consecutive in both is reported; a call of a planner tool in between is something else; identical failures have the same
 * digest.
 */
import type { Rule } from '../rule.ts'
import type { TaskView } from '../task-view.ts'

const most = 3

function thrice(task: TaskView, order: readonly string[]): boolean {
  let last: string | null = null
  let count = 0
  for (const id of order) {
    const setback = task.calls.get(id)?.setback ?? null
    count = setback !== null && setback === last ? count + 1 : 1
    last = setback
    if (setback !== null && count >= most) return true
  }
  return false
}

export const repetitionRule: Rule = {
  fact({ fact, task, report }) {
    if (fact.type !== 'model.requested' || fact.data.purpose !== 'turn' || task === undefined) return
    if (thrice(task, task.settled) && thrice(task, task.everAsked)) {
      report('INV-23', 'a turn goes on after three identical denials or failures')
    }
  },
}
