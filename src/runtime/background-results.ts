import { descendantsOf } from '../../machines/decide-background.ts'
import type { AwaitResult } from '../../machines/facts-of-work.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import type { TaskRecord, World } from '../../machines/world.ts'
import type { Bodies } from './bodies.ts'
import { isLarge } from './kept-results.ts'

/** How a background task stands, as facts tell it. */
export function resultOf(world: World, task: TaskId): AwaitResult {
  const ended = world.taskRecords.get(task)?.ended
  return { task, status: ended?.status ?? null, digest: ended?.result?.digest ?? null }
}

/** The same in words for the model: a large result comes as its beginning and a reference that `observation_read` takes. */
export function toldResult(bodies: Bodies, world: World, { task, status }: AwaitResult): object {
  const ended = world.taskRecords.get(task)?.ended
  const text = bodies.results.get(task)
  if (status === null || ended == null) return { task, status: 'running' }
  if (ended.result === null) return { task, status }
  const { bytes } = ended.result
  const reference = text === undefined || isLarge(bytes) ? { bytes, observation: ended.messageId } : {}
  return { task, status, ...(text === undefined ? {} : { result: text }), ...reference }
}

/**
 * The ended task whose final message this is, if the reader may read it: a turn what its session made, a background task what is
 * below it and what belongs to a group, since it may wait for both.
 */
export function resultNamed(world: World, reader: TaskId, message: string): TaskRecord | null {
  const found = [...world.taskRecords.values()].find(
    ({ created, ended }) => created.kind === 'background' && ended?.messageId === message,
  )
  if (found === undefined) return null
  const isTurn = world.taskRecords.get(reader)?.created.kind === 'foreground'
  return isTurn || found.created.group !== undefined || descendantsOf(world, reader).has(found.id) ? found : null
}
