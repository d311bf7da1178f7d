import type { AgendaItem } from '../../machines/agenda.ts'
import type { TaskRecord } from '../../machines/world.ts'
import { coreTools, modelTool } from '../capabilities/catalog-snapshot.ts'
import { occupancyOfTools, utf8Bytes } from '../context/occupancy.ts'
import { activationOf } from './activate-skill.ts'
import { roomFor } from './capability-room.ts'
import { added } from './expand-messages.ts'
import type { Step } from './step.ts'
import type { TaskDesk } from './task-desk.ts'

type Problem = Extract<ReturnType<typeof activationOf>, { ok: false }>['refused']

/** Skills of the command, active until the task ends. One that cannot be had is skipped, and the model is told. */
export function operatorSkills(step: Step, record: TaskRecord, desk: TaskDesk): readonly AgendaItem[] {
  const items: AgendaItem[] = []
  const skipped: Problem[] = []
  let occupied = desk.baseOccupancy
  for (const name of record.created.skills ?? []) {
    const entry = desk.skills.get(name)
    const activation =
      entry === undefined
        ? { ok: false as const, refused: { id: `skill:${name}`, code: whyMissing(step, name) } }
        : activationOf({ step, task: record.id, record, occupied }, entry, 'task')
    if (activation.ok) {
      items.push(activation.fact)
      occupied += activation.bytes
    } else skipped.push(activation.refused)
  }
  if (skipped.length === 0) return items
  return [
    ...items,
    ...skipped.map((problem) => skippedFact(record.id, problem)),
    added(step, { task: record.id, role: 'system' }, skipNote(skipped)),
  ]
}

/** It is not in the task's snapshot: withdrawn for all, denied to this task, or not in the catalog any more. */
function whyMissing(step: Step, name: string): string {
  const { host, control } = step.base
  for (const { kind, name: known, ref } of host.catalog.entries()) {
    if (kind !== 'skill' || known !== name) continue
    if (control.isRevoked(ref.id)) return 'CAPABILITY_REVOKED'
    return control.isDisabled(ref.provider) ? 'PROVIDER_DISABLED' : 'AUTHORIZATION_DENIED'
  }
  return 'STALE_CAPABILITY'
}

function skippedFact(task: string, { id, code, room }: Problem): AgendaItem {
  const { need, margin, ceiling } = room ?? {}
  const size = need === undefined || margin === undefined || ceiling === undefined ? {} : { need, margin, ceiling }
  return { type: 'capability.skipped', task, data: { id, code, ...size } }
}

function skipNote(skipped: readonly Problem[]): string {
  const lines = skipped.map(({ id, code, room }) => `- ${id} (${code}${room === undefined ? '' : sizeText(room)})`)
  return ['The operator asked for skills that could not be activated:', ...lines].join('\n')
}

function sizeText({ need, margin, ceiling }: NonNullable<Problem['room']>): string {
  return `: needs ${need} with a margin of ${margin}, and ${ceiling} is the ceiling`
}

/** The first core tool that has no room beside those before it. The task cannot do its work without it, and fails. */
export function coreToolProblem(step: Step, record: TaskRecord, desk: TaskDesk): readonly AgendaItem[] {
  const { snapshot, offer } = desk
  const tools = coreTools(snapshot, record.grants)
  if (tools.length === 0 || roomFor(step.base, desk.baseOccupancy, 0).fits) return []
  let occupied = desk.baseOccupancy - offer.occupancy + occupancyOfTools(snapshot.planner)
  for (const tool of tools) {
    const room = roomFor(step.base, occupied, utf8Bytes(JSON.stringify(modelTool(tool))) + 1)
    const { fits, need, margin, ceiling } = room
    if (!fits) {
      const code = 'CAPABILITY_DOES_NOT_FIT'
      return [
        { type: 'capability.refused', task: record.id, data: { id: tool.id, code, need, margin, ceiling } },
        { ask: 'failTask', task: record.id, code },
      ]
    }
    occupied = need
  }
  return []
}
