import type { Confirm, Grant, Level } from '../../../../machines/vocabulary.ts'
import type { Judged, Rule } from '../rule.ts'

const levels: Readonly<Record<Level, number>> = { none: 0, discover: 1, inspect: 2, load: 3, activate: 3, execute: 4 }
const confirmations: Readonly<Record<Confirm, number>> = { none: 0, once: 1, each: 2 }

const none: Grant = { level: 'none', confirm: 'none' }

/** The ceiling can shrink and never grow; confirmation is tightened only (page 3, Authority). */
function grows(before: Grant, after: Grant): boolean {
  return levels[after.level] > levels[before.level] || confirmations[after.confirm] < confirmations[before.confirm]
}

/** INV-10 for one task, and for a child, whose snapshot is narrowed from the parent's ceiling (page 2, Background tasks). */
function judge({ view, fact, task, report }: Judged): void {
  if (fact.type === 'grant.reduced') {
    const { id, before, after } = fact.data
    if (grows(before, after)) report('INV-10', `the grant of ${id} grows`)
    const current = task?.grants.get(id)
    if (current !== undefined && (current.level !== before.level || current.confirm !== before.confirm)) {
      report('INV-10', `the grant of ${id} is reduced from what it is not`)
    }
  }
  if (fact.type !== 'task.started' || task === undefined) return
  const parent = view.tasks.get(task.parent ?? '')
  // What a parent without a single grant was given is not in facts.
  if (parent === undefined || parent.grants.size === 0) return
  for (const [id, grant] of Object.entries(fact.data.grants)) {
    const ceiling = parent.grants.get(id) ?? none
    if (grows(ceiling, grant)) report('INV-10', `the grant of ${id} exceeds that of the parent`)
  }
}

export const grantsRule: Rule = { fact: judge }
