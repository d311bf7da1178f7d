import { incrementBase32, monotonicFactory } from 'ulid'
import { LandfallError } from './errors.ts'
import { limits } from './limits.ts'
import type { Clock, Ids, Random } from './ports.ts'

/** ULIDs of one source increase while its clock does not go back by more than the source remembers: see `nextId`. */
export function ulidIds(clock: Clock, random: Random): Ids {
  const make = monotonicFactory(() => random.next())
  return { next: () => make(clock.now()) }
}

/**
 * An id greater than `after` (empty: any). A clock that went back, or another process whose clock is ahead, would give a
 * smaller one; then the one after `after` is taken instead.
 */
export function nextId(after: string, ids: Ids): string {
  const id = ids.next()
  return id > after ? id : incrementBase32(after)
}

/** Ids that users choose. Names that begin with `_` are ours. */
export function checkId(kind: string, value: unknown): string {
  const problem = idProblem(value)
  if (problem !== null || typeof value !== 'string') {
    throw new LandfallError('INVALID_INPUT', `The ${kind} id ${problem}. Choose another one.`, {
      details: { field: kind, which: 'idChars', bound: limits.idChars },
    })
  }
  return value
}

function idProblem(value: unknown): string | null {
  if (typeof value !== 'string') return 'is not a string'
  if (value === '') return 'is empty'
  if (value.length > limits.idChars) return `is longer than ${limits.idChars} characters`
  if (/\p{Cc}/u.test(value)) return 'holds a control character'
  if (/\p{Surrogate}/u.test(value)) return 'holds half of a character'
  if (value.startsWith('_')) return 'begins with an underscore'
  return null
}
