import type { Status } from '../../../../machines/vocabulary.ts'
import { terminalStatus } from '../folds/fold-task.ts'
import type { Judged, Rule } from '../rule.ts'
import type { TaskState } from '../task-view.ts'

const onlyFrom: Readonly<Record<string, readonly TaskState[]>> = {
  'task.blocked': ['pending'],
  'task.unblocked': ['pending'],
  'task.input_replaced': ['pending'],
  'task.started': ['pending'],
  'task.awaiting': ['running'],
  'task.paused': ['running'],
  'task.resumed': ['paused'],
  'task.cancelling': ['running', 'paused'],
  'task.quiescing': ['cancelling'],
}

const terminalFrom: Readonly<Record<Status, readonly TaskState[]>> = {
  completed: ['running'],
  failed: ['running', 'paused', 'quiescing'],
  cancelled: ['pending', 'quiescing'],
  superseded: ['pending', 'quiescing'],
}

/** After a terminal only `call.late`, `mutation.*` and `steering.expired` may name the task (page 6). */
function allowedAfterTerminal(type: string): boolean {
  // An audit stands where it happened, which may be beside one of the three.
  return type === 'call.late' || type === 'steering.expired' || /^(mutation|audit)\./.test(type)
}

/** INV-02: every fact names a task that lives, or is one of the few that may follow its terminal. */
function naming({ view, fact, task, report }: Judged): void {
  const needsTask = /^(task|call|model|run)\./.test(fact.type)
  if (fact.task === null) {
    if (needsTask) report('INV-02', `${fact.type} names no task`)
    return
  }
  const ended = view.ended.get(fact.task)
  if (fact.type === 'task.created') {
    if (task !== undefined || ended !== undefined) report('INV-02', `task ${fact.task} is created twice`)
  } else if (ended !== undefined && !allowedAfterTerminal(fact.type)) {
    report('INV-02', `${fact.type} names task ${fact.task}, which is ${ended.status}`)
  } else if (task === undefined && ended === undefined) {
    report('INV-02', `${fact.type} names task ${fact.task}, which was never created`)
  }
  if (task !== undefined && task.run !== null && fact.run !== null && task.run !== fact.run) {
    report('INV-02', 'a task has one run')
  }
}

/** INV-02: the edges of the task lifecycle; anything else, self-transitions included, is refused (page 2). */
function edges({ fact, task, report }: Judged): void {
  if (task === undefined) return
  const from = onlyFrom[fact.type]
  if (from !== undefined && !from.includes(task.state)) {
    report('INV-02', `${fact.type} of a task that is ${task.state}`)
  }
  const status = terminalStatus(fact.type)
  if (status === undefined || terminalFrom[status].includes(task.state)) return
  // A started task reaches these two through the barrier alone.
  const skipsBarrier = task.state !== 'pending' && (status === 'cancelled' || status === 'superseded')
  report(skipsBarrier ? 'INV-04' : 'INV-02', `${fact.type} of a task that is ${task.state}`)
}

/** The first status stands (page 2, `cancel`); only a replacement in the slot ends unstarted as superseded. */
function status({ fact, task, report }: Judged): void {
  const reached = terminalStatus(fact.type)
  if (task === undefined || reached === undefined) return
  if (task.state === 'quiescing' && task.barrier !== null && task.barrier.status !== reached) {
    report('INV-02', `${fact.type} ends a barrier that was begun as ${task.barrier.status}`)
  }
  if (task.state === 'pending' && reached === 'superseded' && task.origin !== 'supersede') {
    report('INV-02', 'a pending task that is no replacement ends superseded')
  }
}

/** Completing is not a state: the final answer commits the terminal fact in its own step (page 2). */
function finalAnswer({ fact, task, report }: Judged): void {
  if (fact.type !== 'task.completed' || task === undefined || task.state !== 'running') return
  if (task.asked === null || task.asked.length > 0) report('INV-02', 'a task completes without a final answer')
}

export const taskEdgesRule: Rule = {
  fact(judged) {
    naming(judged)
    edges(judged)
    status(judged)
    finalAnswer(judged)
  },
}
