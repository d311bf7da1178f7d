import type { TaskId } from '../../../../machines/vocabulary.ts'
import type { Judged, Rule } from '../rule.ts'
import type { SessionView } from '../session-view.ts'
import type { Report } from '../violation.ts'

/** INV-01: one foreground task is started and not terminal; `start` is refused while one is (page 2, Operator commands). */
function single({ view, fact, task, report }: Judged): void {
  if (fact.type === 'task.created') {
    if ((fact.data.kind === 'background') !== (fact.data.origin === 'spawn')) {
      report('INV-01', `a ${fact.data.kind} task has origin ${fact.data.origin}`)
    }
    if (fact.data.origin === 'start' && view.active !== null) {
      report('INV-01', `a turn is begun by start while task ${view.active} is active`)
    }
  }
  if (fact.type !== 'task.started' || task?.kind !== 'foreground') return
  if (view.active !== null) report('INV-01', `a second foreground task starts while ${view.active} is active`)
}

/**
 * INV-04: a successor's start follows the terminal of what is ahead: the replacement before all follow-ups, those in
 * the order of the queue; a blocked head holds back everything behind it (page 2, `supersede`, `followUp`).
 */
function order({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'task.started' || task?.kind !== 'foreground') return
  if (view.active !== null && view.active !== task.id && task.origin !== 'start') {
    report('INV-04', `a successor starts before task ${view.active} is terminal`)
  }
  if (view.slot.length > 0 && !view.slot.includes(task.id)) report('INV-04', 'a task starts before the replacement')
  if (task.origin === 'follow_up' && view.queue[0] !== task.id) report('INV-04', 'a follow-up starts out of turn')
}

function next(view: SessionView): TaskId | undefined {
  const replacement = view.slot[0]
  if (replacement !== undefined) return replacement
  const head = view.tasks.get(view.queue[0] ?? '')
  if (head === undefined || head.blocked) return undefined
  return head.requirement && head.predecessorStatus !== null && head.predecessorStatus !== 'completed'
    ? undefined
    : head.id
}

/** What follows of necessity stands in the same step (page 1): a free session starts its slot, else an unblocked head. */
function stepEnd(view: SessionView, report: Report): void {
  const { firstSeq, created } = view.step
  if (view.slot.length > 1) report('INV-01', firstSeq, 'two replacements wait: the older ends superseded')
  for (const [id, seq] of created) {
    const task = view.tasks.get(id)
    if (task?.state !== 'pending' || (task.origin !== 'start' && task.origin !== 'spawn')) continue
    report('INV-02', seq, `a task of origin ${task.origin} starts in the step that creates it`)
  }
  const waiting = view.lifecycle === 'open' && view.active === null ? next(view) : undefined
  if (waiting !== undefined) report('INV-04', firstSeq, `task ${waiting} is due and does not start in this step`)
}

export const foregroundRule: Rule = {
  fact(judged) {
    single(judged)
    order(judged)
  },
  stepEnd,
}
