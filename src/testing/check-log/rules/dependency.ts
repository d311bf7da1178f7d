import type { Judged, Rule } from '../rule.ts'
import type { SessionView } from '../session-view.ts'

/** The task directly ahead: queue tail, else the slot, else the active one, else the one started last (page 2). */
function ahead(view: SessionView): string | undefined {
  return view.queue.at(-1) ?? view.slot.at(-1) ?? view.active ?? view.lastForeground ?? undefined
}

/** Dependency binds to the predecessor recorded at submission (page 2, Operator commands). */
function binding({ view, fact, report }: Judged): void {
  if (fact.type !== 'task.created' || fact.data.origin !== 'follow_up') return
  const { predecessor, requires } = fact.data
  const expected = ahead(view)
  if (predecessor === undefined ? requires === 'success' && expected !== undefined : predecessor !== expected) {
    report('INV-18', 'the recorded predecessor is not the task directly ahead')
  }
}

/** INV-18: if the predecessor ends in any way but `completed`, the follow-up is blocked until the operator acts (page 2). */
function blocking({ fact, task, report }: Judged): void {
  if (task === undefined) return
  if (fact.type === 'task.blocked') {
    const { predecessor, status } = fact.data
    const so = task.requirement && task.predecessor === predecessor && task.predecessorStatus === status
    if (!so || status === 'completed' || task.blocked) report('INV-18', 'task.blocked does not fit its predecessor')
  }
  if (fact.type !== 'task.started') return
  if (task.blocked) report('INV-18', 'a blocked task starts')
  else if (task.requirement && task.predecessor !== null && task.predecessorStatus !== 'completed') {
    report('INV-18', 'a task starts whose predecessor did not complete')
  }
}

export const dependencyRule: Rule = {
  fact(judged) {
    binding(judged)
    blocking(judged)
  },
  stepEnd(view, report) {
    for (const task of view.tasks.values()) {
      if (task.state !== 'pending' || !task.requirement || task.blocked) continue
      if (task.predecessorStatus === null || task.predecessorStatus === 'completed') continue
      report('INV-18', view.step.firstSeq, `task ${task.id} is not blocked in the step that decides it`)
    }
    // Replace leaves no requirement; it adds `task.unblocked` where there was one (page 2, `replace`).
    for (const [id, seq] of view.step.replaced) {
      if (view.tasks.get(id)?.requirement) report('INV-18', seq, 'a replaced task keeps its requirement')
    }
  },
}
