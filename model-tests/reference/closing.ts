import { isGoing, isPending, isTerminal, type Model, refuse, type Verdict } from './model.ts'
import { beginBarrier, end } from './scheduling.ts'

/** Close, erase and reopen. What follows an empty session is decided where everything is, in `settle`. */

function begin(model: Model, closingThen: 'close' | 'erase'): Verdict {
  model.lifecycle = 'closing'
  model.closingThen = closingThen
  // Closing expires what the session was left with, in its own step. What a living task holds is its own until it ends.
  model.expired.push(...model.orphans)
  model.orphans = []
  // Pending tasks survive a close; erase cancels them.
  if (closingThen === 'erase') for (const task of model.tasks) if (isPending(task)) end(model, task, 'cancelled')
  for (const task of model.tasks)
    if (isGoing(task)) beginBarrier(model, task, { status: 'cancelled', steering: 'inherit' })
  return { results: ['applied'] }
}

/** Background tasks included. */
function isBusy(model: Model): boolean {
  return model.tasks.some((task) => !isPending(task) && !isTerminal(task))
}

export function close(model: Model, cancel: boolean): Verdict {
  if (model.lifecycle === 'closing' && model.closingThen === 'close') return { results: ['joined'] }
  if (model.lifecycle !== 'open') return refuse('SESSION_CLOSED')
  if (isBusy(model) && !cancel) return refuse('SESSION_BUSY')
  return begin(model, 'close')
}

/** Erase while closing upgrades what is to follow; a closed session still takes it. */
export function erase(model: Model, cancel: boolean): Verdict {
  if (model.lifecycle === 'closing' && model.closingThen === 'erase') return { results: ['joined'] }
  if (model.lifecycle === 'open' && isBusy(model) && !cancel) return refuse('SESSION_BUSY')
  return begin(model, 'erase')
}

export function reopen(model: Model): Verdict {
  if (model.lifecycle !== 'closed') return refuse('INVALID_TRANSITION', 'SESSION_BUSY', 'SESSION_CLOSED')
  model.lifecycle = 'open'
  return { results: ['applied'] }
}
