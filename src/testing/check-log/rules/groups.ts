/**
 * INV-02 for groups: open → sealed → resolved | cancelled, once (page 2, Background tasks).
 *
 * Where the pages leave room: a group may be cancelled before it is sealed; results may be left out, and when they are there
 * they name each member once with its status, or null for one that lives; an empty group resolves when it is sealed.
 */
import type { AwaitResult } from '../../../../machines/facts-of-work.ts'
import type { Status } from '../../../../machines/vocabulary.ts'
import { sameSet } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'
import type { GroupView } from '../session-view.ts'

function living(group: GroupView): boolean {
  return [...group.members.values()].some((status) => status === null)
}

function tells(members: ReadonlyMap<string, Status | null>, results: readonly AwaitResult[] | undefined): boolean {
  if (results === undefined) return true
  const named = results.map(({ task }) => task)
  return sameSet(named, [...members.keys()]) && results.every(({ task, status }) => members.get(task) === status)
}

function joins({ view, fact, report }: Judged): void {
  if (fact.type !== 'task.created' || fact.data.group === undefined) return
  const group = view.groups.get(fact.data.group)
  if (group === undefined || group.sealed) report('INV-02', 'a task joins a group that takes no members')
}

function made({ view, fact, report }: Judged): void {
  if (fact.type !== 'group.created') return
  const { group, members } = fact.data
  if (view.groups.has(group) || view.firedGroups.has(group)) report('INV-02', 'a group is created twice')
  if ((members ?? []).length > 0) report('INV-02', 'a group has members before it is there')
}

function sealed({ view, fact, report }: Judged): void {
  if (fact.type !== 'group.sealed') return
  const group = view.groups.get(fact.data.group)
  if (group?.sealed !== false) report('INV-02', 'a group is sealed that is not open')
  const { members } = fact.data
  if (group !== undefined && members !== undefined && !sameSet(members, [...group.members.keys()])) {
    report('INV-02', 'a group is sealed with other members than joined it')
  }
}

function fires({ view, fact, report }: Judged): void {
  if (fact.type !== 'group.resolved' && fact.type !== 'group.cancelled') return
  const group = view.groups.get(fact.data.group)
  if (group === undefined) {
    report('INV-02', `${fact.type} of a group that is not there`)
    return
  }
  if (!tells(group.members, fact.data.results))
    report('INV-02', `${fact.type}: the results are not those of its members`)
  if (fact.type === 'group.cancelled') return
  if (!group.sealed) report('INV-02', 'a group resolves that is not sealed')
  else if (living(group)) report('INV-02', 'a group resolves while a member lives')
}

export const groupsRule: Rule = {
  fact(judged) {
    joins(judged)
    made(judged)
    sealed(judged)
    fires(judged)
  },
  /** A sealed group resolves when all members are terminal: in the step of the last terminal, or of the seal. */
  stepEnd(view, report) {
    for (const [id, seq] of view.step.groups) {
      const group = view.groups.get(id)
      if (group?.sealed && !living(group))
        report('INV-02', seq, 'a sealed group without living members does not resolve')
    }
  },
}
