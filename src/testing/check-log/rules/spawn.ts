import { bounds } from '../bounds.ts'
import { terminalStatus } from '../folds/fold-task.ts'
import type { Judged, Rule } from '../rule.ts'

/** INV-16: the scope of an idempotency key is the triple plus the key (page 2, Background tasks). */
function keys({ view, fact, report }: Judged): void {
  if (fact.type !== 'task.created' || fact.data.idempotencyKey === undefined) return
  const other = view.keys.get(fact.data.idempotencyKey)
  if (other !== undefined) report('INV-16', `the idempotency key has made task ${other} before`)
  if (fact.data.kind !== 'background') report('INV-16', 'a turn has an idempotency key')
}

/**
 * INV-19: parent and propagation are what a cancel walks along; a background task waits for nothing and replaces nothing
 * (page 2, Background tasks). A parent that has ended is accepted: the walk passes through terminal descendants.
 */
function place({ view, fact, report }: Judged): void {
  if (fact.type !== 'task.created') return
  const { kind, parent, propagate, group, requires, predecessor, replaces } = fact.data
  if (kind === 'foreground') {
    if (parent !== undefined || propagate !== undefined || group !== undefined) {
      report('INV-19', 'a turn has a parent, a propagation or a group')
    }
    return
  }
  if (parent !== undefined && !view.tasks.has(parent) && !view.ended.has(parent)) {
    report('INV-19', `the parent ${parent} is no task of the session`)
  }
  const above = view.tasks.get(parent ?? '')
  if (above?.state === 'pending') report('INV-19', 'the parent has not started')
  if (requires !== 'none' || predecessor !== undefined || replaces !== undefined) {
    report('INV-18', 'a background task depends on a predecessor or replaces one')
  }
}

/** A background task is no turn: nothing supersedes, blocks, frees or replaces it (page 2, Operator commands). */
function noTurn({ fact, task, report }: Judged): void {
  if (task?.kind !== 'background') return
  const superseded = fact.type === 'task.cancelling' && fact.data.status === 'superseded'
  if (superseded || terminalStatus(fact.type) === 'superseded') report('INV-02', 'a background task is superseded')
  if (fact.type === 'task.blocked' || fact.type === 'task.unblocked' || fact.type === 'task.input_replaced') {
    report('INV-18', `${fact.type} of a background task`)
  }
}

/** INV-23: children depth 8, living children a session 64 (page 4, Limits). The first task of a tree is counted as none. */
function depth({ view, fact, report }: Judged): void {
  if (fact.type !== 'task.created' || fact.data.kind !== 'background') return
  const { parent = '' } = fact.data
  const above = view.tasks.get(parent) ?? view.ended.get(parent)
  if ((above?.depth ?? 0) + 1 > bounds.childDepth) report('INV-23', `children deeper than ${bounds.childDepth}`)
  const living = [...view.tasks.values()].filter((task) => task.kind === 'background').length
  if (living >= bounds.livingChildrenPerSession) report('INV-23', 'too many living children')
}

/** Progress is told of what has started (page 2, Background tasks); that nothing is told after the terminal is a rule of names. */
function progress({ fact, task, report }: Judged): void {
  if (fact.type !== 'task.progress' || task === undefined) return
  if (task.state === 'pending') report('INV-02', 'task.progress of a task that is pending')
  const { fraction } = fact.data
  if (!(fraction >= 0 && fraction <= 1)) report('INV-23', 'the fraction of a progress is not from 0 to 1')
}

export const spawnRule: Rule = {
  fact(judged) {
    keys(judged)
    place(judged)
    noTurn(judged)
    depth(judged)
    progress(judged)
  },
}
