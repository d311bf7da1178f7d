/**
 * INV-19: after a cascading cancel every cascade descendant reaches its terminal, and nothing else is touched.
 *
 * Where the pages leave room: `cascadedFrom` may name the target, the parent through which the walk came (also one that has
 * ended), or the member whose failure ended a group; a barrier of the walk may leave it out. A child that is spawned under a
 * task in its barrier must be in the barrier too at the end of that step, unless it is isolated.
 */
import type { TaskId } from '../../../../machines/vocabulary.ts'
import { terminalStatus } from '../folds/fold-task.ts'
import { cascadeDescendants, shutting } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'
import type { SessionView } from '../session-view.ts'
import type { EndedTask, TaskView } from '../task-view.ts'
import type { Report } from '../violation.ts'

type Node = TaskView | EndedTask

function node(view: SessionView, id: TaskId): Node | undefined {
  return view.tasks.get(id) ?? view.ended.get(id)
}

/** The groups of a task and of those whose cancel it follows. */
function groupsOf(view: SessionView, task: Node): string[] {
  const nodes = [task, ...task.cascadeAncestors.flatMap((id) => node(view, id) ?? [])]
  return nodes.flatMap(({ group }) => group ?? [])
}

function mates(view: SessionView, task: Node, from: TaskId): boolean {
  const group = node(view, from)?.group
  return group != null && groupsOf(view, task).includes(group)
}

function named({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'task.cancelling' || fact.data.cascadedFrom === undefined || task === undefined) return
  const { cascadedFrom: from, status } = fact.data
  if (!task.cascadeAncestors.includes(from) && !mates(view, task, from)) {
    report('INV-19', `a cancel cascades from ${from} to a task that is not its cascade descendant`)
  }
  if (status !== 'cancelled')
    report('INV-19', `a cascade descendant is ${status}: it is cancelled, whatever became of ${from}`)
}

/** The terminal waits for every cascading child (page 2, barrier 4); completion leaves them running. */
function childrenFirst({ view, fact, task, report }: Judged): void {
  const status = terminalStatus(fact.type)
  if (task === undefined || status === undefined || status === 'completed') return
  if (cascadeDescendants(view, task.id).length > 0) report('INV-19', `${fact.type} while a cascade descendant lives`)
}

function ends(view: SessionView, id: TaskId): boolean {
  const task = view.tasks.get(id)
  if (task !== undefined) return shutting(task)
  const ended = view.step.ended.get(id)
  return ended !== undefined && ended.status !== 'completed'
}

/** What made a task end in this step: an ancestor's end, or that of a group. */
function because(view: SessionView, task: Node): boolean {
  if (task.cascadeAncestors.some((id) => ends(view, id))) return true
  return groupsOf(view, task).some((id) => view.step.failures.has(id) || view.step.cancelledGroups.has(id))
}

/** Only cancel, supersede and failure cascade; completion leaves cascade children running (page 2, Task lifecycle). */
function untouched(view: SessionView, report: Report): void {
  const { barriers, cascades, closing, types } = view.step
  const roots: number[] = []
  for (const [id, seq] of barriers) {
    const task = node(view, id)
    if (task === undefined || because(view, task)) continue
    if (cascades.has(id)) report('INV-19', seq, 'a cascading cancel reaches a task, and nothing above it was cancelled')
    else roots.push(seq)
  }
  // Closing ends all tasks, and a new owner may end all that were interrupted.
  const many = closing !== null || types.has('session.owned') || types.has('run.resumed')
  for (const seq of many ? [] : roots.slice(1)) report('INV-19', seq, 'one step cancels a task beside another one')
}

/** The walk goes over all cascade descendants, one step for the whole walk (page 2, Background tasks). */
function reached(view: SessionView, report: Report): void {
  for (const task of view.tasks.values()) {
    if (!shutting(task)) continue
    const seq = view.step.barriers.get(task.id)
    for (const child of cascadeDescendants(view, task.id)) {
      const at = seq ?? view.step.created.get(child.id)
      if (at !== undefined && !shutting(child)) {
        report('INV-19', at, `cascade descendant ${child.id} is not cancelled in this step`)
      }
    }
  }
}

/** `failFast` cancels the rest on the first failure; a group that is cancelled cancels its members. */
function groupsEnd(view: SessionView, report: Report): void {
  const living = (id: TaskId): boolean => {
    const task = view.tasks.get(id)
    return task !== undefined && !shutting(task)
  }
  for (const [id, seq] of view.step.failures) {
    const members = [...(view.groups.get(id)?.members.keys() ?? [])]
    if (members.some(living)) report('INV-19', seq, 'a member failed, and the rest of its group runs on')
  }
  for (const { seq, members } of view.step.cancelledGroups.values()) {
    if (members.some(living)) report('INV-19', seq, 'a group is cancelled, and a member runs on')
  }
}

export const cascadeRule: Rule = {
  fact(judged) {
    named(judged)
    childrenFirst(judged)
  },
  stepEnd(view, report) {
    untouched(view, report)
    reached(view, report)
    groupsEnd(view, report)
  },
}
