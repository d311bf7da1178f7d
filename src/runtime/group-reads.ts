import { isGroupOver } from '../../machines/decide-background.ts'
import type { Status } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import type { BusEvent } from '../bus/events.ts'
import { resultOf } from './background-results.ts'
import type { GroupOutcome } from './group-handle.ts'
import type { Outcome } from './outcome.ts'

export interface GroupView {
  readonly id: string
  readonly state: 'open' | 'sealed' | 'resolved' | 'cancelled'
  readonly failFast: boolean
  readonly members: readonly string[]
  readonly living: number
}

export interface Joined {
  readonly how: 'done' | 'deadline'
  /** In the order of the members; `outcome` once there is one. */
  readonly results: readonly { readonly task: string; readonly status: Status | null; readonly outcome?: Outcome }[]
}

export function groupsOf(world: World): readonly GroupView[] {
  return [...world.groups.values()].map(({ value, context }) => ({
    id: context.id,
    state: value,
    failFast: context.failFast,
    members: context.members,
    living: Object.keys(context.living).length,
  }))
}

/**
 * Whether a group may be over with an event, so that looking is worth it: a look reads the whole session when another process works
 * on it. A cancelled group is over with the end of a member; what was lost on the way may have been anything.
 */
export function mayEndGroup(group: string): (event: BusEvent) => boolean {
  let cancelled = false
  return (event) => {
    if (event.type === 'group.resolved' || event.type === 'group.cancelled') {
      if (event.data.group !== group) return false
      cancelled = true
      return true
    }
    cancelled ||= event.type === 'bus.dropped'
    return cancelled
  }
}

/** The outcome of a group that is over, from its members, which do not change any more; null before; undefined: there is none. */
export function outcomeOfGroup(world: World, group: string): GroupOutcome | null | undefined {
  const snapshot = world.groups.get(group)
  if (snapshot === undefined || !isGroupOver(world, group)) return snapshot === undefined ? undefined : null
  const { members, seq } = snapshot.context
  const status = snapshot.matches('resolved') ? 'resolved' : 'cancelled'
  return { status, results: members.map((member) => resultOf(world, member)), seq }
}
