import type { Grant } from '../../machines/vocabulary.ts'
import { type CatalogSnapshot, coreTools, modelTool, offeredTools } from '../capabilities/catalog-snapshot.ts'
import { occupancyOfTools } from '../context/occupancy.ts'
import { keyedDigest } from '../facts/digest.ts'
import type { ModelTool } from '../facts/ports.ts'

/** The tools that a task's requests carry now, with what is known of them as they are sent. */
export interface Offer {
  readonly tools: readonly ModelTool[]
  /** Names of the host's tools among them: those that may be called. */
  readonly loaded: ReadonlySet<string>
  /** Part of every request digest. */
  readonly digest: string
  readonly occupancy: number
}

export interface OfferOf {
  /** Of the session. */
  readonly key: string
  readonly snapshot: CatalogSnapshot
  /** Names the snapshot. */
  readonly catalog: string
  /** As the task started with. */
  readonly grants: { readonly [id: string]: Grant }
  /** What was loaded since, in this order. */
  readonly loaded: readonly string[]
}

/** The same tools are digested and measured once, however many turns offer them. */
export class Offers {
  readonly #known = new Map<string, Offer>()

  of(wanted: OfferOf): Offer {
    const ids = [...coreTools(wanted.snapshot, wanted.grants).map(({ id }) => id), ...wanted.loaded]
    const name = `${wanted.catalog}\n${ids.join('\n')}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const made = newOffer(wanted)
    this.#known.set(name, made)
    return made
  }
}

function newOffer({ key, snapshot, grants, loaded }: OfferOf): Offer {
  const hosts = offeredTools(snapshot, grants, loaded).map(modelTool)
  const tools = Object.freeze([...snapshot.planner, ...hosts])
  return {
    tools,
    loaded: new Set(hosts.map((tool) => tool.name)),
    digest: keyedDigest(key, tools),
    occupancy: occupancyOfTools(tools),
  }
}
