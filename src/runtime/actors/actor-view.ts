import { type AnyActorRef, matchesState, type Snapshot, type StateValue } from 'xstate'

/**
 * What an actor of the runtime shows: the state of one chart after a step that is durable. Its value is `unread` until the log
 * was read, and that of a session without a fact is `unopened`; nothing is claimed that the log does not say.
 */
export type ActorView<Context> = Snapshot<unknown> & {
  readonly value: StateValue
  readonly context: Context
  /** Living children, and those that ended in this step: tasks of a session, calls of a task. */
  readonly children: { readonly [id: string]: AnyActorRef }
  /** seq of the newest fact of the session that this view has seen; 0 before the first. */
  readonly seq: number
  matches(value: StateValue): boolean
}

export interface ViewParts<Context> {
  readonly value: StateValue
  readonly context: Context
  readonly children: { readonly [id: string]: AnyActorRef }
  readonly seq: number
}

export function viewOf<Context>(parts: ViewParts<Context>, end: Snapshot<unknown> = living): ActorView<Context> {
  const { value } = parts
  return { ...end, ...parts, matches: (wanted) => matchesState(wanted, value) }
}

export const living: Snapshot<unknown> = { status: 'active', output: undefined, error: undefined }

export function doneWith(output: unknown): Snapshot<unknown> {
  return { status: 'done', output, error: undefined }
}

export function failedWith(error: unknown): Snapshot<unknown> {
  return { status: 'error', output: undefined, error }
}

export const stopped: Snapshot<unknown> = { status: 'stopped', output: undefined, error: undefined }
