import { viewOf } from '../../machines/message-reducers.ts'
import { isMessage } from '../../machines/view.ts'
import type { CallId, TaskId } from '../../machines/vocabulary.ts'
import type { Log } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import type { ModelAnswer } from '../models/read-stream.ts'
import { resultNamed } from './background-results.ts'
import type { Held } from './session-hold.ts'

/**
 * The outputs that the planner asks to read, from the store: a step cannot wait, so they are at hand before it. What the view does
 * not show as an observation, and what the store does not give, is not there; the tool then says so.
 */
export async function fetchObservations(
  of: { readonly log: Log; readonly scope: Scope; readonly held: Held; readonly task: TaskId },
  calls: ModelAnswer['calls'],
): Promise<ReadonlyMap<CallId, string>> {
  const fetched = new Map<CallId, string>()
  const { entries } = viewOf(of.held.world, of.task)
  for (const { id, name, arguments: args } of calls) {
    if (name !== 'observation_read') continue
    const entry = entries.filter(isMessage).find((shown) => shown.observed && shown.id === args.observation)
    const at = entry ?? resultNamed(of.held.world, of.task, String(args.observation))?.ended?.result
    if (at == null) continue
    const { digest, step } = at
    const bodies = await of.log.content(of.scope, [{ digest, step }]).catch(() => [])
    const body = bodies[0]
    if (body != null) fetched.set(id, body)
  }
  return fetched
}
