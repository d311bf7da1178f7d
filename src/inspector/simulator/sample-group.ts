import type { FactOf } from '../../../machines/facts.ts'
import type { GroupContext } from '../../../machines/group.machine.ts'
import { type SampleEvent, sample, sampleEnd, sampleFact, sampleInput } from './sample-fact.ts'

export const groupInput: FactOf<'group.created'> = sampleFact(
  'group.created',
  { group: 'group-1', failFast: true },
  { seq: 1 },
)

/** Facts that may come next for a group: one more member, and the end of each that lives. */
export function groupSamples({ id, members, living, seq }: GroupContext): readonly SampleEvent[] {
  const where = { seq: seq + 1 }
  const task = `task-${members.length + 1}`
  const born = { ...sampleInput, kind: 'background', origin: 'spawn', requires: 'none', group: id } as const
  return [
    sample('task.created', born, { ...where, task, what: task }),
    ...Object.keys(living).flatMap((member) => [
      sample('task.completed', sampleEnd, { ...where, task: member, what: member }),
      sample('task.failed', sampleEnd, { ...where, task: member, what: member }),
      sample('task.cancelled', sampleEnd, { ...where, task: member, what: member }),
    ]),
    sample('group.sealed', { group: id, members }, where),
    sample('group.resolved', { group: id, results: [] }, where),
    sample('group.cancelled', { group: id, members }, where),
  ]
}
