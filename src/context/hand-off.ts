import type { Effect } from '../../machines/vocabulary.ts'
import type { TaskRecord } from '../../machines/world.ts'

/** So many predecessors are told of one by one: the newest. */
const describedOnes = 8

/**
 * The control-plane digest that a queued or superseding successor gets of a predecessor which ended after its submission:
 * how it ended and what it did, in counts and in names that the successor may discover, with the effect where it may inspect. Never its reasoning or tool traffic.
 */
export function handOffNote(
  predecessors: readonly TaskRecord[],
  discoverable: ReadonlyMap<string, Effect | null>,
): string | null {
  const ended = predecessors.filter((task) => task.ended !== null)
  const notes = ended.slice(-describedOnes).map((task) => noteOf(task, discoverable))
  const counted = ended.slice(0, -describedOnes)
  if (counted.length > 0) notes.unshift(countsOf(counted))
  return notes.length === 0 ? null : notes.join('\n')
}

/** The oldest of many, in counts alone: what a turn is told when it starts must not grow with how long it waited. */
function countsOf(tasks: readonly TaskRecord[]): string {
  const of = (status: string) => tasks.filter(({ ended }) => ended?.status === status).length
  const sum = (count: 'total' | 'failed' | 'succeededMutating' | 'unknownMutating' | 'cancelled') =>
    tasks.reduce((total, { ended }) => total + (ended?.calls[count] ?? 0), 0)
  const statuses = ['completed', 'failed', 'cancelled', 'superseded'].map((status) => `${status}: ${of(status)}`)
  return (
    `${tasks.length} earlier turns of this session ended after this one was submitted (${statuses.join(', ')}). ` +
    `Calls: ${sum('total')}, failed: ${sum('failed')}, changes made: ${sum('succeededMutating')}, ` +
    `changes with unknown outcome: ${sum('unknownMutating')}, cancelled: ${sum('cancelled')}.`
  )
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
