import type { AgendaItem } from '../../machines/agenda.ts'
import { viewOf } from '../../machines/message-reducers.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import { planEviction } from '../context/eviction.ts'
import { occupancyOfMessage } from '../context/occupancy.ts'
import { equip } from './desk-builder.ts'
import { needed } from './expand-messages.ts'
import { followView, renderEntry } from './lane.ts'
import type { Step } from './step.ts'

/** The compaction that is due before a turn request: once a step, and only when it helps. Originals stay in the log. */
export function compact(step: Step, task: TaskId): AgendaItem | null {
  if (step.compacted.has(task)) return null
  const { world, bodies, desks } = step.base
  const policy = needed(world.session, 'session').context.settings.context
  const desk = needed(desks.get(task), 'desk')
  equip(step.base, desk, needed(world.taskRecords.get(task), 'task record'))
  followView(world, bodies, desk)
  const occupancy = desk.baseOccupancy + desk.view.occupancy
  if (occupancy < policy.thresholdTokens) return null
  step.compacted.add(task)
  const data = planEviction({
    entries: viewOf(world, task).entries,
    sizeOf: (entry) => occupancyOfMessage(renderEntry(bodies, entry)),
    occupancy,
    target: Math.floor(policy.thresholdTokens / 2),
    tailMessages: policy.tailMessages,
  })
  return data === null ? null : { type: 'context.compacted', task, data }
}
