import type { TerminalData } from '../../../../machines/facts-of-work.ts'
import type { StoredFact } from '../../../facts/envelope.ts'
import { terminalStatus } from '../folds/fold-task.ts'
import { pendingSteering, sameList } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'
import type { TaskView } from '../task-view.ts'

function terminalData(fact: StoredFact): TerminalData | undefined {
  return terminalStatus(fact.type) === undefined ? undefined : (fact.data as TerminalData)
}

/**
 * Planner tools count as calls of the turn and leave no `call.*` facts (page 2, Calls), so a count may exceed what the
 * call facts show by as many calls as the answers asked for and the runtime did not request; never by more.
 */
function counts(task: TaskView, data: TerminalData): string[] {
  const { tally } = task
  const folded = tally.asked - tally.requested
  const expected: readonly (readonly [string, number, number, number])[] = [
    ['total', data.calls.total, tally.requested, Math.max(tally.asked, tally.requested)],
    ['failed', data.calls.failed, tally.failed, tally.failed + tally.refused + Math.max(folded, 0)],
    ['succeededMutating', data.calls.succeededMutating, tally.succeededMutating, tally.succeededMutating],
    ['unknownMutating', data.calls.unknownMutating, tally.unknownMutating, tally.unknownMutating],
    ['cancelled', data.calls.cancelled, tally.cancelled, tally.cancelled + Math.max(folded, 0)],
    // A step whose request was cut off has begun and was never answered; either count is an honest number of steps.
    ['steps', data.steps, task.answers, Math.max(task.answers, task.stepsBegun)],
  ]
  return expected.filter(([, got, least, most]) => !(got >= least && got <= most)).map(([name]) => name)
}

/** INV-02: the one terminal fact tells what the facts before it show (page 6, Catalogue). */
function judge({ view, fact, task, report }: Judged): void {
  const data = terminalData(fact)
  if (data === undefined || task === undefined) return
  for (const name of counts(task, data)) report('INV-02', `${fact.type}: ${name} is not what the facts show`)
  if (data.usage.total < task.charged) report('INV-15', `${fact.type}: usage is less than the task was charged`)
  if (data.replacement !== undefined && !view.tasks.has(data.replacement) && !view.ended.has(data.replacement)) {
    report('INV-02', `${fact.type} names a replacement that was never created`)
  }
  // Every terminal fact lists what was pending (page 2, Steering 6); `steering.expired` of the same step may come first.
  const expired = view.step.expired.filter((each) => each.owner === task.id).map((each) => each.message)
  const pending = [...expired, ...pendingSteering(view, task.id).map((steer) => steer.message)]
  if (!sameList(data.pendingSteering, pending)) report('INV-06', `${fact.type} does not list the pending steering`)
  // A final answer that arrives while steering is pending leads to another round (page 2, Steering 4).
  if (fact.type === 'task.completed' && pending.length > 0) report('INV-06', 'a task completes with steering pending')
}

export const terminalDataRule: Rule = { fact: judge }
