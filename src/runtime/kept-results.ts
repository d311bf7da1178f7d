import { isGroupOver } from '../../machines/decide-background.ts'
import type { GroupId, TaskId } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import { limits } from '../facts/limits.ts'

const previewChars = 512

/** What memory keeps of a final text: the whole of a short one, the beginning of any other. The whole is in the content store. */
export function keptText(text: string): string {
  if (!isLarge(Buffer.byteLength(text))) return text
  return `${Array.from(text.slice(0, previewChars * 2))
    .slice(0, previewChars)
    .join('')}…`
}

export function isLarge(bytes: number): boolean {
  return bytes > limits.observationReadBytes
}

/**
 * Somebody may still ask for the result of an ended background task: a task above it lives, its group is waited for or not over, or
 * it is to be offered. What is not kept is told by its reference alone.
 */
export function isWanted(world: World, task: TaskId): boolean {
  if (world.unoffered.has(task)) return true
  const created = world.taskRecords.get(task)?.created
  const { group } = created ?? {}
  if (group !== undefined && (!isGroupOver(world, group) || isAwaited(world, group))) return true
  let above = created?.parent
  while (above !== undefined) {
    if (world.tasks.has(above)) return true
    above = world.taskRecords.get(above)?.created.parent
  }
  return false
}

function isAwaited(world: World, group: GroupId): boolean {
  return [...world.tasks.values()].some(({ context }) => context.awaiting?.group === group)
}
