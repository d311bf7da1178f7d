import type { AgendaItem } from '../../machines/agenda.ts'
import { isAtLeast } from '../../machines/grant-order.ts'
import { type DescribedCapability, modelTool } from '../capabilities/catalog-snapshot.ts'
import { findCapability } from '../capabilities/discovery.ts'
import type { PlannerInput } from '../capabilities/planner-tools.ts'
import { utf8Bytes } from '../context/occupancy.ts'
import { canonicalJson } from '../facts/digest.ts'
import { activationOf } from './activate-skill.ts'
import { type Room, roomFor } from './capability-room.ts'
import { visibleTo } from './planner-discovery.ts'
import { type Asked, failed, type Performed } from './planner-result.ts'

interface Refused {
  readonly id: string
  readonly code: string
  readonly room?: Room
}

/** Loads what may be loaded and has room, in the order asked for; each refusal says why, and changes nothing. */
export function load(asked: Asked, { names }: PlannerInput<'tools_load'>): Performed {
  const facts: AgendaItem[] = []
  const loaded: string[] = []
  const refused: object[] = []
  let occupied = asked.desk.baseOccupancy
  for (const name of new Set(names)) {
    const described = sought(asked, name)
    if (described === null) {
      refused.push({ id: name, code: 'NOT_FOUND' })
      continue
    }
    const problem = problemOfLoading(asked, described, occupied)
    if (problem !== null) {
      facts.push(refusalFact(asked, problem))
      refused.push(told(asked, problem))
      continue
    }
    if (!asked.desk.offer.loaded.has(described.name)) {
      facts.push(loadedFact(asked, described))
      occupied += sizeOf(described)
    }
    loaded.push(described.id)
  }
  return { facts, result: { loaded, ...(refused.length === 0 ? {} : { refused }) } }
}

/** What is revoked may be named, and is then refused as such; what may not be discovered is not there. */
function sought(asked: Asked, name: string): DescribedCapability | null {
  return findCapability({ ...visibleTo(asked), isWithdrawn: () => false }, name)
}

/** The checks of an execution, as far as they concern loading, in the same order. */
function problemOfUse(asked: Asked, described: DescribedCapability, isCurrent: boolean): string | null {
  const { control } = asked.step.base
  if (!isCurrent) return 'STALE_CAPABILITY'
  if (control.isRevoked(described.id)) return 'CAPABILITY_REVOKED'
  return control.isDisabled(described.provider) ? 'PROVIDER_DISABLED' : null
}

function problemOfLoading(asked: Asked, described: DescribedCapability, occupied: number): Refused | null {
  const { id, name } = described
  const { desk, record, step } = asked
  const code =
    described.kind === 'skill' ? 'CAPABILITY_NOT_EXECUTABLE' : problemOfUse(asked, described, desk.tools.has(name))
  if (code !== null) return { id, code }
  if (!isAtLeast(record.grants[id], 'load')) return { id, code: 'AUTHORIZATION_DENIED' }
  if (desk.offer.loaded.has(name)) return null
  const room = roomFor(step.base, occupied, sizeOf(described))
  return room.fits ? null : { id, code: 'CAPABILITY_DOES_NOT_FIT', room }
}

function definitionOf(described: DescribedCapability): string {
  return described.kind === 'tool' ? canonicalJson(modelTool(described)) : ''
}

function sizeOf(described: DescribedCapability): number {
  return utf8Bytes(definitionOf(described)) + 1
}

function loadedFact({ record, step, task }: Asked, described: DescribedCapability): AgendaItem {
  const ref = record.started?.capabilities.find(({ id }) => id === described.id)
  if (ref === undefined) throw new TypeError('a task sees what is not in its snapshot')
  const { digest, bytes } = step.put(definitionOf(described))
  return { type: 'capability.loaded', task, data: { ref, scope: 'task', bytes, content: digest } }
}

function refusalFact({ task }: Asked, { id, code, room }: Refused): AgendaItem {
  const { need, margin, ceiling } = room ?? {}
  const size = need === undefined || margin === undefined || ceiling === undefined ? {} : { need, margin, ceiling }
  return { type: 'capability.refused', task, data: { id, code, ...size } }
}

function told({ record }: Asked, { id, code, room }: Refused): object {
  if (room === undefined) return { id, code }
  const { need, margin, ceiling } = room
  return { id, code, need, margin, ceiling, active: [...record.loaded, ...record.active.map((active) => active.id)] }
}

/** The text of a skill in the next request, for one answer. */
export function activate(asked: Asked, { name }: PlannerInput<'skills_activate'>): Performed {
  const { desk, record, step, task } = asked
  const described = sought(asked, name)
  if (described === null) return failed('NOT_FOUND', 'There is no such skill. Search or list what there is.')
  const { id } = described
  if (record.active.some((active) => active.id === id)) return { facts: [], result: { active: id } }
  const entry = desk.skills.get(described.name)
  const code = described.kind === 'tool' ? 'INVALID_ARGUMENTS' : problemOfUse(asked, described, entry !== undefined)
  if (code !== null || entry === undefined) return refuse(asked, { id, code: code ?? 'STALE_CAPABILITY' })
  const activation = activationOf({ step, task, record, occupied: desk.baseOccupancy }, entry, 'step')
  if (!activation.ok) return refuse(asked, activation.refused)
  return { facts: [activation.fact], result: { active: id } }
}

function refuse(asked: Asked, problem: Refused): Performed {
  return { facts: [refusalFact(asked, problem)], result: { error: told(asked, problem) } }
}
