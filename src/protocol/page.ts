import { z } from 'zod'
import { LandfallError } from '../facts/errors.ts'
import type { Limits } from '../facts/limits.ts'

/** A list as HTTP gives it; `next` is the `after` of the page behind it. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string | number
}

const limit = z.coerce.number().int().min(1)

/** Lists by seq: `log` and `messages`. */
export const seqPageQuery = z.object({ after: z.coerce.number().int().min(0).optional(), limit: limit.optional() })
/** All other lists: `after` is the `next` of the page before. */
export const pageQuery = z.object({ after: z.string().max(1_024).optional(), limit: limit.optional() })

export type SeqPageQuery = z.infer<typeof seqPageQuery>
export type PageQuery = z.infer<typeof pageQuery>

type PageLimits = Pick<Limits, 'pageItems' | 'pageMaxItems'>

/** Refuses a page beyond the bound: it would be cut, and nobody would see that. */
export function pageSize(asked: number | undefined, { pageItems, pageMaxItems }: PageLimits): number {
  const size = asked ?? pageItems
  if (size <= pageMaxItems) return size
  throw new LandfallError('LIMIT_EXCEEDED', 'A page holds fewer items. Ask for the next one with after.', {
    details: { which: 'pageMaxItems', bound: pageMaxItems, got: size },
  })
}

/** Asks for one item more than the page holds, to know whether there are more. */
export async function seqPage<T extends { readonly seq: number }>(
  { after = 0, limit: asked }: SeqPageQuery,
  limits: PageLimits,
  read: (page: { after: number; limit: number }) => Promise<readonly T[]>,
): Promise<Page<T>> {
  const size = pageSize(asked, limits)
  const found = await read({ after, limit: size + 1 })
  const items = found.slice(0, size)
  const last = items.at(-1)
  return found.length > size && last !== undefined ? { items, next: last.seq } : { items }
}

/**
 * Where an item stands in the order of its list. It says so for ever, whatever else comes or leaves: a page goes on behind the place
 * where the one before ended, also when nothing stands there any more.
 */
export type Place = readonly (string | number)[]

/** A page of a list that is at hand, in ascending order of its places. */
export function listPage<T>(
  all: readonly T[],
  { after, limit: asked }: PageQuery,
  limits: PageLimits,
  placeOf: (item: T) => Place,
): Page<T> {
  const size = pageSize(asked, limits)
  const place = after === undefined ? null : readPlace(after)
  const [some] = all
  if (place !== null && some !== undefined && !isAlike(place, placeOf(some))) throw noPlace()
  const first = place === null ? 0 : all.findIndex((item) => isBehind(placeOf(item), place))
  const from = first < 0 ? all.length : first
  const items = all.slice(from, from + size)
  const last = items.at(-1)
  return from + size < all.length && last !== undefined ? { items, next: placeText(placeOf(last)) } : { items }
}

/** Opaque to clients: they send back what they were given. */
export function placeText(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

export function readPlace(text: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (Array.isArray(place) && place.length > 0 && place.every(isPart)) return place
  } catch {
    // Told below, as everything that is none of ours.
  }
  throw noPlace()
}

function noPlace(): LandfallError {
  return new LandfallError('INVALID_INPUT', 'What is given as after is no next of a page of this list. Begin anew.', {
    details: { field: 'after' },
  })
}

function isPart(part: unknown): part is string | number {
  return typeof part === 'string' || typeof part === 'number'
}

function isAlike(place: Place, other: Place): boolean {
  return place.length === other.length && place.every((part, index) => typeof part === typeof other[index])
}

export function isBehind(place: Place, other: Place): boolean {
  const at = place.findIndex((part, index) => part !== other[index])
  return at >= 0 && (place[at] ?? 0) > (other[at] ?? 0)
}
