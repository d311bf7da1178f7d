import type { StoredFact } from '../../../facts/envelope.ts'
import type { SessionView } from '../session-view.ts'

export function foldGroup(view: SessionView, fact: StoredFact): void {
  switch (fact.type) {
    case 'group.created': {
      const { group, failFast } = fact.data
      view.groups.set(group, { failFast: failFast === true, sealed: false, members: new Map() })
      return
    }
    case 'group.sealed': {
      const group = view.groups.get(fact.data.group)
      if (group !== undefined) group.sealed = true
      view.step.groups.set(fact.data.group, fact.seq)
      return
    }
    case 'group.cancelled': {
      const members = [...(view.groups.get(fact.data.group)?.members.keys() ?? [])]
      view.step.cancelledGroups.set(fact.data.group, { seq: fact.seq, members })
      fire(view, fact.data.group)
      return
    }
    case 'group.resolved':
      fire(view, fact.data.group)
      return
    default:
      return
  }
}

function fire(view: SessionView, group: string): void {
  view.groups.delete(group)
  view.firedGroups.add(group)
}

export function foldAwait(view: SessionView, fact: StoredFact): void {
  const task = fact.task === null ? undefined : view.tasks.get(fact.task)
  if (task === undefined) return
  if (fact.type === 'task.awaiting') {
    const { tasks, group, deadline } = fact.data
    task.awaiting = { tasks: tasks ?? [], group: group ?? null, deadline: deadline ?? null }
    view.step.awaitsBegun.set(task.id, fact.seq)
  }
  if (fact.type !== 'task.await_settled') return
  const { how, results } = fact.data
  view.step.awaitsSettled.push({ task: task.id, seq: fact.seq, how, awaited: task.awaiting })
  task.awaiting = null
  task.epoch = fact.owner?.epoch ?? null
  // Somebody has seen these.
  for (const each of results) view.unoffered.delete(each.task)
}

export function foldOffer(view: SessionView, fact: StoredFact): void {
  if (fact.type !== 'result.offered') return
  view.offered.add(fact.data.from)
  view.unoffered.delete(fact.data.from)
}
