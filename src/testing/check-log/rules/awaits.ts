/**
 * INV-02 for awaits: one at a time, begun and settled in turn, on what the task may await (page 2, Calls and Background tasks).
 *
 * Where the pages leave room: an interrupt or a barrier may settle an await that had not begun, with a fact or without one;
 * results may be left out for those that live, and altogether unless all is done; a group that was cancelled may settle an
 * await as `done` or as `cancelled`; while the task's own pause is open an await may be settled or keep its state.
 */

import { ownPause, shutting } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'
import type { SessionView } from '../session-view.ts'
import type { AwaitView, TaskView } from '../task-view.ts'
import type { Report } from '../violation.ts'

/** Takes only the caller's own descendants and groups without the caller. */
function target({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'task.awaiting' || task === undefined) return
  const { tasks, group } = fact.data
  if ((tasks ?? []).length === 0 && group === undefined) report('INV-02', 'an await of nothing')
  for (const id of tasks ?? []) {
    const other = view.tasks.get(id) ?? view.ended.get(id)
    if (!other?.ancestors.includes(task.id)) report('INV-02', `task ${id} is awaited and is no descendant`)
  }
  if (group === undefined) return
  if (!view.groups.has(group) && !view.firedGroups.has(group)) report('INV-02', 'a group is awaited that is not there')
  if (task.group === group) report('INV-02', 'a task awaits its own group')
}

function begins({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'task.awaiting' || task === undefined) return
  if (task.awaiting !== null) report('INV-02', 'a second await begins before the first is settled')
  const { forCall } = fact.data
  if (forCall !== undefined && !task.unanswered.includes(forCall)) {
    report('INV-02', 'an await for a call that awaits no result')
  }
  if ([...task.calls.values()].some((call) => call.state !== 'settled')) {
    report('INV-11', 'an await begins before the other calls of its batch have settled')
  }
  if (ownPause(view, task.id) !== undefined) report('INV-20', 'an await begins while a pause of the task is open')
}

/** It is no part of the barrier, and nothing else is begun beside it. */
function alone({ fact, task, report }: Judged): void {
  if (task === undefined || task.awaiting === null) return
  const turn = fact.type === 'model.requested' && fact.data.purpose === 'turn'
  if (turn || fact.type === 'call.requested' || fact.type === 'call.started') {
    report('INV-11', `${fact.type} while the task awaits others`)
  }
}

function isOver(view: SessionView, { tasks, group }: AwaitView): boolean {
  const members = group === null ? undefined : view.groups.get(group)
  const open = members !== undefined && [...members.members.values()].some((status) => status === null)
  return tasks.every((id) => view.ended.has(id)) && !open && (members === undefined || members.sealed)
}

function results({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'task.await_settled' || task === undefined) return
  const { how } = fact.data
  for (const { task: id, status } of fact.data.results) {
    const ended = view.ended.get(id)
    if (ended === undefined && !view.tasks.has(id))
      report('INV-02', `the await of ${id} tells of a task that is not there`)
    if ((ended?.status ?? null) !== status) report('INV-02', `the await of ${id} tells a status that it does not have`)
    const { awaiting } = task
    const group = ended?.group ?? view.tasks.get(id)?.group ?? null
    const meant = awaiting === null || awaiting.tasks.includes(id) || (group !== null && group === awaiting.group)
    if (!meant) report('INV-02', `task ${id} was not awaited`)
  }
  const told = new Set(fact.data.results.map((each) => each.task))
  if (how === 'done' && task.awaiting?.tasks.some((id) => !told.has(id)))
    report('INV-02', 'an await that is done misses a result')
}

function settles({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'task.await_settled' || task === undefined) return
  const { how } = fact.data
  const { awaiting } = task
  if (awaiting === null) {
    const unbegun = (how === 'interrupted' || how === 'cancelled') && task.unanswered.length > 0
    if (!unbegun) report('INV-02', 'an await is settled that was not begun')
    return
  }
  if (how === 'done' && !awaiting.tasks.every((id) => view.ended.has(id)))
    report('INV-02', 'an await is done and a task lives')
  if (how === 'deadline') {
    if (awaiting.deadline === null) report('INV-02', 'an await without a deadline is settled by one')
    else if (Date.parse(fact.at) < Date.parse(awaiting.deadline)) report('INV-02', 'an await ends before its deadline')
  }
}

function causes(view: SessionView, report: Report): void {
  for (const { task: id, seq, how, awaited } of view.step.awaitsSettled) {
    const task = view.tasks.get(id)
    if (how === 'done' && awaited !== null && !isOver(view, awaited))
      report('INV-02', seq, 'an await is done and its group is not')
    const interrupted =
      view.step.interrupts.has(id) || view.steering.some((steer) => steer.owner === id && steer.mode === 'interrupt')
    if (how === 'interrupted' && !interrupted) report('INV-02', seq, 'an await is interrupted by nothing')
    const gone = task === undefined || shutting(task) || (awaited?.group != null && view.firedGroups.has(awaited.group))
    if (how === 'cancelled' && !gone) report('INV-02', seq, 'an await is cancelled and its task goes on')
  }
}

function waitsOn(view: SessionView, task: TaskView): boolean {
  return task.state === 'running' && ownPause(view, task.id) === undefined
}

export const awaitsRule: Rule = {
  fact(judged) {
    target(judged)
    begins(judged)
    alone(judged)
    results(judged)
    settles(judged)
  },
  stepEnd(view, report) {
    causes(view, report)
    // What follows of necessity stands in the same step (page 1): the await of what has ended is done.
    if (view.step.ended.size === 0 && view.step.awaitsBegun.size === 0) return
    for (const task of view.tasks.values()) {
      if (task.awaiting === null || !waitsOn(view, task) || !isOver(view, task.awaiting)) continue
      report('INV-02', view.step.awaitsBegun.get(task.id) ?? view.step.firstSeq, 'an await outlives what it waits for')
    }
  },
}
