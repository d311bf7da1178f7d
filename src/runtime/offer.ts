import type { CatalogEntry } from '../capabilities/catalog.ts'
import { occupancyOfTools } from '../context/occupancy.ts'
import { keyedDigest } from '../facts/digest.ts'
import type { ModelTool } from '../facts/ports.ts'

/** The tools that a task's snapshot of the catalog offers, with what is known of them as they are sent. */
export interface Offer {
  readonly entries: ReadonlyMap<string, CatalogEntry>
  readonly tools: readonly ModelTool[]
  readonly loaded: ReadonlySet<string>
  /** Part of every request digest. */
  readonly digest: string
  readonly occupancy: number
}

export function newOffer(key: string, entries: ReadonlyMap<string, CatalogEntry>, tools: readonly ModelTool[]): Offer {
  return {
    entries,
    tools: Object.freeze(tools),
    loaded: new Set(tools.map((tool) => tool.name)),
    digest: keyedDigest(key, tools),
    occupancy: occupancyOfTools(tools),
  }
}
