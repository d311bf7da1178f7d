import { isAtLeast } from '../../machines/grant-order.ts'
import type { Grant } from '../../machines/vocabulary.ts'
import { limits } from '../facts/limits.ts'
import { type CatalogSnapshot, type DescribedCapability, shownDescription } from './catalog-snapshot.ts'

/** What of a task's snapshot its planner may find now. */
export interface Visible {
  readonly snapshot: CatalogSnapshot
  readonly grants: { readonly [id: string]: Grant }
  /** Revoked, or of a disabled provider. */
  readonly isWithdrawn: (described: DescribedCapability) => boolean
}

export interface Listed {
  readonly id: string
  readonly kind: 'tool' | 'skill'
  readonly name: string
  /** `null`: withheld until it is approved. */
  readonly description: string | null
  readonly tags: readonly string[]
  readonly provider: string
  readonly score?: number
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Id behind which the next page begins. */
  readonly next?: string
}

function discoverable(of: Visible): readonly DescribedCapability[] {
  return of.snapshot.capabilities.filter((described) => isDiscoverable(of, described))
}

function isDiscoverable(of: Visible, described: DescribedCapability): boolean {
  if (described.kind === 'skill' && described.disableModelInvocation) return false
  return isAtLeast(of.grants[described.id], 'discover') && !of.isWithdrawn(described)
}

function listed(of: Visible, described: DescribedCapability): Listed {
  const { id, kind, name, tags, provider } = described
  return { id, kind, name, description: shownDescription(described, of.grants[id]), tags, provider }
}

const pageSize = (limit: number | undefined): number =>
  Math.min(limit ?? limits.capabilityPageItems, limits.capabilityPageMaxItems)

/** Sorted by id, without contracts. */
export function listCapabilities(of: Visible, page: { after?: string; limit?: number }): Page<Listed> {
  const size = pageSize(page.limit)
  const after = page.after ?? ''
  const rest = discoverable(of).filter(({ id }) => id > after)
  const items = rest.slice(0, size).map((described) => listed(of, described))
  const last = items.at(-1)
  return rest.length > size && last !== undefined ? { items, next: last.id } : { items }
}

/** By id, or by the name of a tool or skill; what may not be discovered is not there. */
export function findCapability(of: Visible, given: string): DescribedCapability | null {
  const found = discoverable(of).filter(({ id, name }) => id === given || name === given)
  return found.find(({ id }) => id === given) ?? found[0] ?? null
}

/** The contract as well, where the grant allows to inspect it. */
export function inspectCapability(of: Visible, described: DescribedCapability): object | null {
  const grant = of.grants[described.id]
  if (!isAtLeast(grant, 'inspect')) return null
  const { contract } = described
  return { ...listed(of, described), grant, contract }
}

const weights = { exactName: 100, name: 40, tag: 20, description: 10, provider: 5 } as const

/** Deterministic and lexical: every word of the query is looked for in the name, the tags, the description, the provider. */
export function searchCapabilities(of: Visible, query: string, limit?: number): Page<Listed> {
  const wanted = { whole: normal(query).trim(), terms: termsOf(query) }
  const scored = discoverable(of)
    .map((described) => {
      const shown = listed(of, described)
      return { ...shown, score: scoreOf(shown, wanted) }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
  return { items: scored.slice(0, pageSize(limit)) }
}

function scoreOf(shown: Listed, wanted: { whole: string; terms: ReadonlySet<string> }): number {
  const places = [
    [weights.name, termsOf(shown.name)],
    [weights.tag, termsOf(shown.tags.join(' '))],
    [weights.description, termsOf(shown.description ?? '')],
    [weights.provider, termsOf(shown.provider)],
  ] as const
  let score = normal(shown.name) === wanted.whole ? weights.exactName : 0
  for (const term of wanted.terms) for (const [weight, terms] of places) if (terms.has(term)) score += weight
  return score
}

function normal(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

function termsOf(text: string): ReadonlySet<string> {
  return new Set(normal(text).match(/[\p{L}\p{N}]+/gu) ?? [])
}
