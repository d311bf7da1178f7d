import type { Fact, FactOf, FactType } from './facts.ts'
import type { World } from './world.ts'

/** A chart instance that a fact is offered to. */
export type Target =
  | { readonly chart: 'session' }
  | { readonly chart: 'group'; readonly id: string }
  | { readonly chart: 'task'; readonly id: string }
  | { readonly chart: 'call'; readonly id: string }

const session: Target = { chart: 'session' }

/** Facts that no chart decides about; plain reducers fold them. A test keeps this list equal to what routing does. */
export const chartless: ReadonlySet<FactType> = new Set<FactType>([
  'command.accepted',
  'message.added',
  'result.offered',
  'context.accounted',
  'context.checkpoint',
  'context.compacted',
  'episode.started',
  'episode.ended',
  'budget.warning',
  'budget.exceeded',
  'capability.loaded',
  'capability.activated',
  'capability.released',
  'capability.refused',
  'capability.skipped',
  'capability.revoked',
  'provider.disabled',
  'provider.enabled',
  'grant.reduced',
  'memory.put',
  'memory.removed',
  'memory.promoted',
  'audit.elevated',
  'audit.redaction_failed',
])

/**
 * Which charts a fact concerns, in the order in which they are asked: session, task, call, group. Birth facts (`session.opened`,
 * `task.created`, `call.requested`) concern the chart that they create last.
 */
export function route(world: World, fact: Fact): readonly Target[] {
  switch (fact.type) {
    case 'session.opened':
    case 'session.restored':
    case 'session.owned':
    case 'session.closing':
    case 'session.closed':
    case 'session.reopened':
    case 'session.erased':
    case 'settings.changed':
    case 'mutation.quarantined':
    case 'mutation.acknowledged':
    case 'steering.expired':
      return [session]
    case 'task.created':
      return [session, ...ancestorsOf(world, fact.data), own(fact), ...groupOf(fact.data)]
    case 'task.completed':
    case 'task.failed':
    case 'task.cancelled':
    case 'task.superseded':
      return [session, own(fact), ...aboveOf(world, fact)]
    case 'group.created':
    case 'group.sealed':
    case 'group.resolved':
    case 'group.cancelled':
      return [{ chart: 'group', id: fact.data.group }]
    case 'task.started':
    case 'task.blocked':
    case 'task.cancelling':
    case 'task.unblocked':
    case 'steering.inherited':
      return [session, own(fact)]
    case 'call.late':
      return [callOf(fact)]
    default:
      if (chartless.has(fact.type)) return []
      return fact.type.startsWith('call.') ? [own(fact), callOf(fact)] : [own(fact)]
  }
}

function own(fact: Fact): Target {
  return { chart: 'task', id: fact.task ?? '' }
}

function callOf(fact: Fact): Target {
  return { chart: 'call', id: fact.call ?? '' }
}

type Created = FactOf<'task.created'>['data']

/**
 * A barrier waits for every living descendant that its cancel reaches, so a birth and an end concern each living ancestor up
 * to the first isolated link. Ended ancestors are walked through.
 */
function ancestorsOf(world: World, created: Created): readonly Target[] {
  const targets: Target[] = []
  let link: Created | undefined = created
  while (link?.parent !== undefined && link.propagate !== 'isolate') {
    if (world.tasks.has(link.parent)) targets.push({ chart: 'task', id: link.parent })
    link = world.taskRecords.get(link.parent)?.created
  }
  return targets
}

function aboveOf(world: World, fact: Fact): readonly Target[] {
  const created = world.taskRecords.get(fact.task ?? '')?.created
  if (created === undefined) return []
  // Only what waited in the slot of a turn ends as superseded, or what a turn had become; no member of a group does.
  return [...ancestorsOf(world, created), ...(fact.type === 'task.superseded' ? [] : groupOf(created))]
}

function groupOf({ group }: Created): readonly Target[] {
  return group === undefined ? [] : [{ chart: 'group', id: group }]
}
