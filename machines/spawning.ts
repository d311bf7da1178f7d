import { limitOf, type SessionContext } from './session-context.ts'
import type { TaskId } from './vocabulary.ts'

/** Links from a background task up to the turn or the command that it comes from, unless the session's settings say less. */
export const childDepth = 8
/** Background tasks that may live in one session, unless its settings say less. */
export const livingChildrenPerSession = 64

/** Why no background task may begin: its parent is not at work, or a bound. */
export type SpawnProblem =
  | { readonly which: 'parent' }
  | { readonly which: 'childDepth' | 'livingChildrenPerSession'; readonly bound: number; readonly got: number }

export function depthBelow(context: SessionContext, parent: TaskId | null): number {
  return parent === null ? 1 : (context.tasks[parent]?.depth ?? 0) + 1
}

export function spawnProblem(context: SessionContext, parent: TaskId | null): SpawnProblem | null {
  if (parent !== null && context.tasks[parent]?.phase !== 'started') return { which: 'parent' }
  const depth = { bound: limitOf(context, 'childDepth', childDepth), got: depthBelow(context, parent) }
  if (depth.got > depth.bound) return { which: 'childDepth', ...depth }
  const living = Object.values(context.tasks).filter((task) => task.kind === 'background').length
  const bound = limitOf(context, 'livingChildrenPerSession', livingChildrenPerSession)
  return living < bound ? null : { which: 'livingChildrenPerSession', bound, got: living + 1 }
}
