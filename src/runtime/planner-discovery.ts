import type { DescribedCapability } from '../capabilities/catalog-snapshot.ts'
import {
  findCapability,
  inspectCapability,
  listCapabilities,
  searchCapabilities,
  type Visible,
} from '../capabilities/discovery.ts'
import type { PlannerInput } from '../capabilities/planner-tools.ts'
import { type Asked, failed, type Performed } from './planner-result.ts'

/** The frozen snapshot of the task, under the grants and the revocations of now. */
export function visibleTo({ desk, record, step }: Pick<Asked, 'desk' | 'record' | 'step'>): Visible {
  const { control } = step.base
  return {
    snapshot: desk.snapshot,
    grants: record.grants,
    isWithdrawn: ({ id, provider }: DescribedCapability) => control.isRevoked(id) || control.isDisabled(provider),
  }
}

export function list(asked: Asked, { after, limit }: PlannerInput<'capabilities_list'>): Performed {
  const page = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }
  return { facts: [], result: listCapabilities(visibleTo(asked), page) }
}

export function search(asked: Asked, { query, limit }: PlannerInput<'capabilities_search'>): Performed {
  return { facts: [], result: searchCapabilities(visibleTo(asked), query, limit) }
}

export function inspect(asked: Asked, { id }: PlannerInput<'capabilities_inspect'>): Performed {
  const visible = visibleTo(asked)
  const found = findCapability(visible, id)
  if (found === null) return failed('NOT_FOUND', 'There is no such capability. Search or list what there is.')
  const shown = inspectCapability(visible, found)
  return shown === null
    ? failed('AUTHORIZATION_DENIED', 'Its contract may not be inspected.')
    : { facts: [], result: shown }
}
