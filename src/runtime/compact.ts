import type { AgendaItem } from '../../machines/agenda.ts'
import { observedBeyond } from '../../machines/compaction.ts'
import { viewOf } from '../../machines/message-reducers.ts'
import type { TaskContext } from '../../machines/task-context.ts'
import type { ViewEntry } from '../../machines/view.ts'
import type { ContextPolicy, TaskId } from '../../machines/vocabulary.ts'
import { planEviction } from '../context/eviction.ts'
import { planObservation } from '../context/observation.ts'
import { occupancyOfMessage } from '../context/occupancy.ts'
import { equip } from './desk-builder.ts'
import { needed } from './expand-messages.ts'
import { askSummary } from './expand-summary.ts'
import { followView, renderEntry } from './lane.ts'
import type { Step } from './step.ts'

interface Crowded {
  readonly step: Step
  readonly task: TaskId
  readonly context: TaskContext
  readonly policy: ContextPolicy
  /** Bytes of the next request, with the steering that it will carry. */
  readonly occupancy: number
  readonly entries: readonly ViewEntry[]
  readonly sizeOf: (entry: ViewEntry) => number
}

/**
 * What is due before a turn request when it would hold too much: outputs become references; a summary takes the place of the
 * older part, once a round; or whole groups are left out. Null: nothing is due, or nothing helps. Originals stay in the log.
 */
export function compact(step: Step, task: TaskId, context: TaskContext): readonly AgendaItem[] | null {
  const { world, bodies, desks } = step.base
  const policy = needed(world.session, 'session').context.settings.context
  const desk = needed(desks.get(task), 'desk')
  equip(step.base, desk, needed(world.taskRecords.get(task), 'task record'))
  followView(world, bodies, desk)
  const occupancy = desk.baseOccupancy + desk.view.occupancy + steeringBytes(step, context)
  if (occupancy < policy.thresholdTokens) return null
  const sizeOf = measuredOnce((entry) => occupancyOfMessage(renderEntry(bodies, entry)))
  const { entries } = viewOf(world, task)
  const crowded: Crowded = { step, task, context, policy, occupancy, entries, sizeOf }
  return observed(crowded) ?? askSummary(step, task, context) ?? evicted(crowded)
}

/** A plan asks for the size of an entry several times, and measuring writes its message down. */
function measuredOnce(measure: (entry: ViewEntry) => number): (entry: ViewEntry) => number {
  const sizes = new Map<ViewEntry, number>()
  return (entry) => {
    const known = sizes.get(entry)
    if (known !== undefined) return known
    const size = measure(entry)
    sizes.set(entry, size)
    return size
  }
}

/** Steering joins the view with the request that carries it, so there must be room for it. */
export function steeringBytes(step: Step, context: TaskContext): number {
  let sum = 0
  for (const message of context.steering) {
    const content = needed(step.base.bodies.steering.get(message), 'steering')
    sum += occupancyOfMessage({ role: 'user', content })
  }
  return sum
}

function observed({ task, policy, entries, sizeOf }: Crowded): readonly AgendaItem[] | null {
  const data = planObservation(entries, observedBeyond(policy.windowTokens), sizeOf)
  return data === null ? null : [{ type: 'context.compacted', task, data }]
}

function evicted({ step, task, policy, occupancy, entries, sizeOf }: Crowded): readonly AgendaItem[] | null {
  const most = policy.windowTokens - policy.reserveTokens
  if (policy.evict === false) return occupancy <= most ? null : [{ ask: 'failTask', task, code: 'SUMMARY_FAILED' }]
  if (step.evicted.has(task)) return null
  step.evicted.add(task)
  const data = planEviction({
    entries,
    episodes: step.world.episodes,
    sizeOf,
    occupancy,
    target: Math.floor(policy.thresholdTokens / 2),
    most,
    tailMessages: policy.tailMessages,
  })
  return data === null ? null : [{ type: 'context.compacted', task, data }]
}
