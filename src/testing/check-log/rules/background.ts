import { bounds } from '../bounds.ts'
import { terminalStatus } from '../folds/fold-task.ts'
import { cascadeDescendants, shutting } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'

/** INV-16: the scope of an idempotency key is the triple plus the key (page 2, Background tasks). */
function keys({ view, fact, report }: Judged): void {
  if (fact.type !== 'task.created' || fact.data.idempotencyKey === undefined) return
  const other = view.keys.get(fact.data.idempotencyKey)
  if (other !== undefined) report('INV-16', `the idempotency key has made task ${other} before`)
}

/** INV-19: nothing else is touched: `isolate` children and siblings are left (page 2, Background tasks). */
function untouched({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'task.cancelling' || fact.data.cascadedFrom === undefined || task === undefined) return
  const from = fact.data.cascadedFrom
  const failsFast = task.group !== null && view.tasks.get(from)?.group === task.group
  if (!task.cascadeAncestors.includes(from) && !failsFast) {
    report('INV-19', `a cancel cascades from ${from} to a task that is not its cascade descendant`)
  }
}

/** The terminal waits for every cascading child (page 2, barrier 4); completion leaves them running. */
function childrenFirst({ view, fact, task, report }: Judged): void {
  const status = terminalStatus(fact.type)
  if (task === undefined || status === undefined || status === 'completed') return
  if (cascadeDescendants(view, task.id).length > 0) report('INV-19', `${fact.type} while a cascade descendant lives`)
}

/** INV-02: a group fires once, sealed, when all members are terminal; sealed refuses members (page 2, Background tasks). */
function groups({ view, fact, report }: Judged): void {
  switch (fact.type) {
    case 'task.created': {
      if (fact.data.group === undefined) return
      const group = view.groups.get(fact.data.group)
      if (group === undefined || group.sealed) report('INV-02', 'a task joins a group that takes no members')
      return
    }
    case 'group.created':
      if (view.groups.has(fact.data.group)) report('INV-02', 'a group is created twice')
      return
    case 'group.sealed':
      if (view.groups.get(fact.data.group)?.sealed !== false) report('INV-02', 'a group is sealed that is not open')
      return
    case 'group.resolved': {
      const group = view.groups.get(fact.data.group)
      if (group?.sealed !== true) report('INV-02', 'a group resolves that is not sealed')
      else if (group.living.size > 0) report('INV-02', 'a group resolves while a member lives')
      return
    }
    case 'group.cancelled':
      if (!view.groups.has(fact.data.group)) report('INV-02', 'a group is cancelled that is not there')
      return
    default:
      return
  }
}

/** INV-02: the end of a background task is offered as an observation, once (page 2, Background tasks). */
function offers({ view, fact, report }: Judged): void {
  if (fact.type !== 'result.offered') return
  if (!view.ended.has(fact.data.from)) report('INV-02', 'a result is offered of a task that has not ended')
  if (view.offered.has(fact.data.from)) report('INV-02', 'a result is offered twice')
}

/** INV-23: children depth 8, living children a session 64 (page 4, Limits). */
function depth({ view, fact, report }: Judged): void {
  if (fact.type !== 'task.created' || fact.data.kind !== 'background') return
  const parent = view.tasks.get(fact.data.parent ?? '')
  if ((parent?.depth ?? 0) + 1 > bounds.childDepth) report('INV-23', `children deeper than ${bounds.childDepth}`)
  const living = [...view.tasks.values()].filter((task) => task.kind === 'background').length
  if (living >= bounds.livingChildrenPerSession) report('INV-23', 'too many living children')
}

export const backgroundRule: Rule = {
  fact(judged) {
    keys(judged)
    untouched(judged)
    childrenFirst(judged)
    groups(judged)
    offers(judged)
    depth(judged)
  },
  /** INV-19: the walk goes over all cascade descendants, one step for the whole walk (page 2, Background tasks). */
  stepEnd(view, report) {
    for (const [id, seq] of view.step.barriers) {
      for (const child of cascadeDescendants(view, id)) {
        if (!shutting(child)) report('INV-19', seq, `cascade descendant ${child.id} is not cancelled in this step`)
      }
    }
  },
}
