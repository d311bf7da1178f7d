import type { Usage } from '../../../../machines/vocabulary.ts'
import type { StoredFactOf } from '../../../facts/envelope.ts'
import { bounds } from '../bounds.ts'
import type { Judged, Rule } from '../rule.ts'
import type { SessionView } from '../session-view.ts'
import type { TaskView } from '../task-view.ts'

function reservedInFlight(view: SessionView): number {
  let reserved = 0
  for (const task of view.tasks.values()) reserved += task.request?.reserved ?? 0
  return reserved
}

/** INV-15: what is admitted fits the window, and the budget is not reached (page 3, Occupancy is not the budget). */
function accounted({ view, fact, report }: Judged): void {
  if (fact.type !== 'context.accounted') return
  const { occupancy, reserve, window, admitted, used, reserved, limit } = fact.data
  if (admitted && occupancy + reserve > window)
    report('INV-15', 'admitted although occupancy + reserve exceed the window')
  if (admitted && limit !== null && used + reserved >= limit) report('INV-15', 'admitted at or over the budget')
  if (used !== view.used) report('INV-15', `used is ${used}, the facts show ${view.used}`)
  if (reserved < reservedInFlight(view)) report('INV-15', 'reserved is less than what is in flight')
}

/** `context.accounted` is written first, for each request (page 3, Occupancy is not the budget). */
function admittedFirst({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'model.requested' || task === undefined) return
  const { purpose, reserved } = fact.data
  if (task.accounted === null || task.accounted.purpose !== purpose) {
    report('INV-15', `a ${purpose} request without its account in the same step`)
  } else {
    if (!task.accounted.admitted) report('INV-15', 'a request that was not admitted starts')
    const { limit } = task.accounted
    // Reservations never exceed the budget (page 3).
    if (limit !== null && view.used + reservedInFlight(view) + reserved > limit) {
      report('INV-15', 'used and reserved exceed the budget')
    }
    const { occupancy, reserve } = task.accounted
    const { maxOutput } = fact.data
    if (maxOutput < 1 || maxOutput > reserve)
      report('INV-15', 'a request asks for more than the reserve, or for nothing')
    if (reserved !== Math.ceil(occupancy / 4) + maxOutput)
      report('INV-15', 'a reservation that is not what the request may use')
  }
  if (task.request !== null) report('INV-15', 'a request starts while another of the task is open')
  if (task.state === 'pending') report('INV-11', 'a request of a task that never started')
}

/** INV-23: retries are counted, and steps are: the same step and the next attempt, or the next step (page 2, Steering 3). */
function position(task: TaskView, fact: StoredFactOf<'model.requested'>): string | undefined {
  const { step, attempt } = fact.data
  if (step !== task.answers) return `step ${step} is requested after ${task.answers} answers`
  // A background task has limits of its own, within those of all.
  const most = Math.min(task.limits.stepsPerTurn ?? bounds.stepsPerTurn, bounds.stepsPerTurn)
  if (step >= most) return `more than ${most} steps in a turn`
  const last = task.position
  if (last === null || last.step !== step) return attempt === 1 ? undefined : `a step begins with attempt ${attempt}`
  // A request that an interrupt cut off did not fail; its step may count attempts afresh.
  if (attempt === last.attempt + 1 || (last.interrupted && attempt === 1)) return undefined
  return `attempt ${attempt} follows attempt ${last.attempt}`
}

function charges(fact: Judged['fact']): readonly Usage[] {
  switch (fact.type) {
    case 'model.completed':
      return [fact.data.usage]
    case 'model.failed':
      return fact.data.usage === undefined ? [] : [fact.data.usage]
    case 'model.abandoned':
      return [fact.data.charged]
    default:
      return []
  }
}

/** INV-15: usage only grows, and each charge replaces the reservation of one open request. */
function charged({ fact, task, report }: Judged): void {
  for (const usage of charges(fact)) {
    const parts = [usage.input, usage.output, usage.total, usage.cached ?? 0, usage.reasoning ?? 0]
    if (parts.some((part) => !(part >= 0))) report('INV-15', 'usage goes down')
  }
  const closes = fact.type === 'model.completed' || fact.type === 'model.failed' || fact.type === 'model.abandoned'
  if (closes && task !== undefined && task.request === null) report('INV-15', `${fact.type} without an open request`)
}

/** A new view must have less occupancy and, unless it only observes, fewer messages (page 3, Compaction). */
function compacted({ fact, report }: Judged): void {
  if (fact.type !== 'context.compacted') return
  const { bytesBefore, bytesAfter, messagesBefore, messagesAfter, dropped } = fact.data
  if (bytesAfter >= bytesBefore) report('INV-15', 'a compaction that does not lessen occupancy')
  if (dropped > 0 && messagesAfter >= messagesBefore) report('INV-15', 'a compaction that drops nothing')
}

export const modelRequestsRule: Rule = {
  fact(judged) {
    accounted(judged)
    admittedFirst(judged)
    charged(judged)
    compacted(judged)
    const { fact, task, report } = judged
    if (fact.type !== 'model.requested' || fact.data.purpose === 'summary' || task === undefined) return
    const wrong = position(task, fact)
    if (wrong !== undefined) report('INV-23', wrong)
  },
}
