import type { Effect } from '../../machines/vocabulary.ts'
import type { TaskRecord } from '../../machines/world.ts'

/**
 * The control-plane digest that a queued or superseding successor gets of a predecessor which ended after its submission:
 * how it ended and what it did, in counts and in names that the successor may discover, with the effect where it may inspect. Never its reasoning or tool traffic.
 */
export function handOffNote(
  predecessors: readonly TaskRecord[],
  discoverable: ReadonlyMap<string, Effect | null>,
): string | null {
  const notes = predecessors.flatMap((task) => (task.ended === null ? [] : [noteOf(task, discoverable)]))
  return notes.length === 0 ? null : notes.join('\n')
}

function noteOf(task: TaskRecord, discoverable: ReadonlyMap<string, Effect | null>): string {
  const { ended } = task
  if (ended === null) return ''
  const { total, failed, succeededMutating, unknownMutating, cancelled } = ended.calls
  const names = ended.used.flatMap((name) => {
    const effect = discoverable.get(name)
    return effect === undefined ? [] : [effect === null ? name : `${name} (${effect})`]
  })
  const lines = [
    `An earlier turn of this session ended as ${ended.status} after this one was submitted.`,
    `Started ${task.startedAt}, ended ${ended.at}. Calls: ${total}, failed: ${failed}, changes made: ${succeededMutating}, ` +
      `changes with unknown outcome: ${unknownMutating}, cancelled: ${cancelled}.`,
  ]
  if (names.length > 0) lines.push(`Capabilities it used: ${names.join(', ')}.`)
  if (unknownMutating > 0) lines.push('Verify the outcome of an unknown change before trying it again.')
  return lines.join(' ')
}
