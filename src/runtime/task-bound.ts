import { limitOf } from '../../machines/session-context.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import type { OwnLimits } from '../facts/own-limits.ts'
import { needed } from './expand-messages.ts'
import type { Step } from './step.ts'

/** A bound of the session's settings, or of the task itself where that is narrower. */
export function boundOf(step: Step, task: TaskId, name: keyof OwnLimits): number {
  const session = needed(step.world.session, 'session').context
  const bound = limitOf(session, name, step.base.host.limits[name])
  return Math.min(bound, step.world.taskRecords.get(task)?.created.limits?.[name] ?? bound)
}
