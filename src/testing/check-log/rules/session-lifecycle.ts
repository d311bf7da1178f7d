import { shutting } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'

const starts = new Set([
  'task.created',
  'task.started',
  'model.requested',
  'call.requested',
  'call.started',
  'capability.loaded',
  'capability.activated',
])

/** INV-02: open → closing → closed | erased · closed → open by reopen · closed → closing by erase (page 2). */
function edges({ view, fact, report }: Judged): void {
  const { lifecycle } = view
  const refuse = () => report('INV-02', `${fact.type} in a session that is ${lifecycle}`)
  switch (fact.type) {
    case 'session.closing': {
      // Erase while closing upgrades `then`; a closed session still takes erase (page 2, `close`).
      const upgrade = fact.data.then === 'erase' && (lifecycle === 'closed' || lifecycle === 'closing')
      if (lifecycle !== 'open' && !(upgrade && !(lifecycle === 'closing' && view.closingThen === 'erase'))) refuse()
      return
    }
    case 'session.closed':
      if (lifecycle !== 'closing' || view.closingThen !== 'close') refuse()
      if ([...view.tasks.values()].some((task) => task.state !== 'pending')) {
        report('INV-02', 'the session is closed while a started task has no terminal fact')
      }
      return
    case 'session.erased':
      if (lifecycle !== 'closing' || view.closingThen !== 'erase') refuse()
      if (view.tasks.size > 0) report('INV-02', `${view.tasks.size} tasks have no terminal fact at the erase`)
      return
    case 'session.reopened':
      if (lifecycle !== 'closed') refuse()
      return
    case 'session.restored':
      // Until it is committed nothing but `restore` is accepted (page 6).
      if (lifecycle !== 'open' || view.tasks.size + view.ended.size > 0) refuse()
      return
    default:
      return
  }
}

/** After `session.closing` nothing starts; erase is final, its fact is the last one (page 2, `close`). */
function gate({ view, fact, report }: Judged): void {
  if (view.lifecycle === 'erased') report('INV-02', `${fact.type} after the session was erased`)
  if (view.lifecycle !== 'closing' && view.lifecycle !== 'closed') return
  if (starts.has(fact.type)) report('INV-03', `${fact.type} in a session that is ${view.lifecycle}`)
}

export const sessionLifecycleRule: Rule = {
  fact(judged) {
    if (judged.view.control) return
    edges(judged)
    gate(judged)
  },
  /** Close refuses while a task is active unless it cancels, background ones included (page 2, `close`). */
  stepEnd(view, report) {
    if (view.step.closing === null) return
    for (const task of view.tasks.values()) {
      if (task.state === 'pending' || shutting(task)) continue
      report('INV-03', view.step.closing, `task ${task.id} runs on in a closing session`)
    }
  },
}
