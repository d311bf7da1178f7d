import type { AgendaItem } from '../../machines/agenda.ts'
import { isAtLeast } from '../../machines/grant-order.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import type { TaskRecord } from '../../machines/world.ts'
import type { SkillEntry } from '../capabilities/catalog.ts'
import { skillContract } from '../capabilities/define-skill.ts'
import { skillBytes } from '../capabilities/skill-text.ts'
import { contractDigest } from '../facts/digest.ts'
import { type Room, roomFor } from './capability-room.ts'
import type { Step } from './step.ts'

interface Activating {
  readonly step: Step
  readonly task: TaskId
  readonly record: TaskRecord
  /** What every request of the task carries already. */
  readonly occupied: number
}

export type Activation =
  | { readonly ok: true; readonly fact: AgendaItem; readonly bytes: number }
  | { readonly ok: false; readonly refused: { readonly id: string; readonly code: string; readonly room?: Room } }

/** The skill as it is now, checked against the contract of the task's snapshot; its text becomes content of this step. */
export function activationOf(of: Activating, entry: SkillEntry, scope: 'task' | 'step'): Activation {
  const { step, task, record, occupied } = of
  const { id } = entry.ref
  if (!isAtLeast(record.grants[id], 'activate')) return { ok: false, refused: { id, code: 'AUTHORIZATION_DENIED' } }
  const body = bodyNow(entry)
  if (body === null) return { ok: false, refused: { id, code: 'STALE_CAPABILITY' } }
  const more = skillBytes(id, body)
  const room = roomFor(step.base, occupied, more)
  if (!room.fits) return { ok: false, refused: { id, code: 'CAPABILITY_DOES_NOT_FIT', room } }
  const { digest, bytes } = step.put(body)
  step.base.bodies.skills.set(digest, body)
  const data = { ref: entry.ref, scope, bytes, content: digest }
  return { ok: true, fact: { type: 'capability.activated', task, data }, bytes: more }
}

/** Read again where it comes from a file; null when that is not what the catalog holds any more. */
function bodyNow({ skill, ref }: SkillEntry): string | null {
  if (skill.reread === undefined) return skill.body
  const now = skill.reread()
  if (now === null) return null
  const contract = (of: typeof now) =>
    contractDigest({
      kind: 'skill',
      contract: { manifest: contractDigest(of.manifest), body: contractDigest(of.body) },
    })
  return contract(now) === ref.contract && contract(skillContract(skill)) === ref.contract ? now.body : null
}

/** Skills that the model activated leave after the one answer that they were for. */
export function releaseSkills(step: Step, task: TaskId): readonly AgendaItem[] {
  const record = step.world.taskRecords.get(task)
  if (record === undefined) return []
  const refs = new Map(record.started?.capabilities.map((ref) => [ref.id, ref]))
  return record.active.flatMap(({ id, scope, bytes, digest }): AgendaItem[] => {
    const ref = refs.get(id)
    if (scope !== 'step' || ref === undefined) return []
    return [{ type: 'capability.released', task, data: { ref, scope, bytes, content: digest } }]
  })
}
