import { decodeTime } from 'ulid'

/** When what has this id was created: ids hold it, so that a process which did not see it knows it too. */
export function createdAt(id: string): number {
  return decodeTime(id)
}
