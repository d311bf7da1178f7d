import { terminalStatus } from '../folds/fold-task.ts'
import { callsInFlight, inFlight, pausesOf, sameSet, shutting, unstarted } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'

const shutOut = new Set([
  'call.requested',
  'call.started',
  'call.held',
  'model.requested',
  'capability.loaded',
  'capability.activated',
  'task.awaiting',
])

/** INV-03: the gate is shut, no new call, request, load or activation (page 2, Cancellation barrier 1). */
function gate({ fact, task, report }: Judged): void {
  if (task === undefined || !shutting(task)) return
  if (shutOut.has(fact.type)) report('INV-03', `${fact.type} of a task that is ${task.state}`)
}

/** INV-04: `task.quiescing {calls}` lists each started call that has no outcome (page 2, Cancellation barrier 3). */
function listing({ fact, task, report }: Judged): void {
  if (fact.type !== 'task.quiescing' || task === undefined) return
  if (!sameSet(fact.data.calls, callsInFlight(task))) {
    report('INV-04', 'task.quiescing does not list exactly the started calls without an outcome')
  }
}

/** INV-04: a terminal fact follows an outcome for each started call; the unstarted ones are settled too (page 2, barrier 4). */
function settled({ view, fact, task, report }: Judged): void {
  if (task === undefined || terminalStatus(fact.type) === undefined) return
  for (const call of task.calls.values()) {
    if (inFlight(call)) report('INV-04', `${fact.type} while call ${call.id} has no outcome`)
    else if (unstarted(call)) report('INV-04', `${fact.type} while call ${call.id} is ${call.state}`)
  }
  if (task.awaiting) report('INV-04', `${fact.type} while the task awaits others`)
  if (task.request !== null) report('INV-15', `${fact.type} while a model request is open and not charged`)
  if (pausesOf(view, task.id).length > 0) report('INV-20', `${fact.type} while a pause of the task is open`)
}

export const barrierRule: Rule = {
  fact(judged) {
    gate(judged)
    listing(judged)
    settled(judged)
  },
  /** `quiescing` follows in the same step; what is not in flight ends with it (page 2, lifecycle and barrier 1). */
  stepEnd(view, report) {
    for (const [id, seq] of view.step.barriers) {
      const task = view.tasks.get(id)
      if (task === undefined) continue
      if (task.state === 'cancelling') report('INV-04', seq, 'task.quiescing does not follow in the same step')
      if ([...task.calls.values()].some(unstarted))
        report('INV-04', seq, 'a call that is not in flight outlives the gate')
      if (task.awaiting) report('INV-04', seq, 'an await outlives the gate')
      if (pausesOf(view, id).length > 0) report('INV-20', seq, 'an open pause outlives the gate')
    }
  },
}
