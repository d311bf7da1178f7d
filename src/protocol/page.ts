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
/** Lists by the name of their items. */
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

/** A page of a list that is at hand. `keyOf` names an item for ever, so that a list that grows keeps its pages. */
export function listPage<T>(
  all: readonly T[],
  { after, limit: asked }: PageQuery,
  limits: PageLimits,
  keyOf: (item: T) => string,
): Page<T> {
  const size = pageSize(asked, limits)
  const from = after === undefined ? 0 : all.findIndex((item) => keyOf(item) === after) + 1
  if (after !== undefined && from === 0)
    throw new LandfallError('INVALID_INPUT', 'No item of this list has the name given as after. Begin anew.', {
      details: { field: 'after' },
    })
  const items = all.slice(from, from + size)
  const last = items.at(-1)
  return from + size < all.length && last !== undefined ? { items, next: keyOf(last) } : { items }
}
