import type { FactData } from '../../machines/facts.ts'
import type { AwaitResult } from '../../machines/facts-of-work.ts'
import type { Status } from '../../machines/vocabulary.ts'
import { asks, cancelling, child, digest, ended, quiescing, said, started } from './drafts.ts'
import type { TestDraft } from './log-builder.ts'

/** A background task and its first request; `reserved` is what other requests in flight hold, 75 each in these fixtures. */
export function spawned(
  task: string,
  extra: Partial<FactData['task.created']>,
  used = 0,
  reserved = 75,
): readonly TestDraft[] {
  return [child(task, extra), started(task), said(task, 'user'), ...asks(task, 0, used, reserved)]
}

/** `[task, status]` as the results of groups and awaits have them; null is one that lives. */
export function told(...pairs: readonly (readonly [string, Status | null])[]): AwaitResult[] {
  return pairs.map(([task, status]) => ({ task, status, digest: status === 'completed' ? digest : null }))
}

export function group(
  type: 'group.created' | 'group.sealed' | 'group.resolved' | 'group.cancelled',
  id: string,
  extra: Partial<FactData['group.created']> = {},
): TestDraft {
  return { type, data: { group: id, ...extra } }
}

export function awaiting(task: string, data: FactData['task.awaiting']): TestDraft {
  return { type: 'task.awaiting', task, data }
}

export function awaitSettled(
  task: string,
  how: FactData['task.await_settled']['how'],
  results: readonly AwaitResult[] = [],
): TestDraft {
  return { type: 'task.await_settled', task, data: { how, results } }
}

export function offered(task: string, from: string): TestDraft {
  return { type: 'result.offered', task, data: { from, message: `r-${from}` } }
}

export function progressed(task: string, fraction = 0.5): TestDraft {
  return { type: 'task.progress', task, data: { fraction } }
}

/** The request in flight is given up; each costs 5 in these fixtures. */
export function abandoned(task: string): TestDraft {
  const charged = { input: 3, output: 2, total: 5 }
  return { type: 'model.abandoned', task, data: { reason: 'cancelled', charged } }
}

/** The barrier of a task that has nothing but a request in flight. */
export function walked(task: string, cascadedFrom?: string): TestDraft[] {
  return [cancelling(task, cascadedFrom === undefined ? {} : { cascadedFrom }), quiescing(task)]
}

export function walkedOver(...tasks: readonly string[]): TestDraft[] {
  return tasks.flatMap((task) => [abandoned(task), ended('task.cancelled', task)])
}
