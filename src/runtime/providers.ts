import {
  type BoundProvider,
  type CapabilityProvider,
  isProvider,
  ownCapabilities,
  type ProviderHooks,
} from '../capabilities/capability-provider.ts'
import { type Capability, Catalog } from '../capabilities/catalog.ts'
import type { ToolDefinition } from '../capabilities/define-tool.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Host } from './options.ts'

interface Bound {
  /** With what the providers offer in its catalog. */
  readonly host: Host
  readonly providers: Providers | null
}

/**
 * Owns: the providers that one runtime has bound, from before its catalog is made until it has let go of its sessions.
 * 1. All are bound, or none: when one cannot be, those before it are let go.
 * 2. What a provider offers later takes the place of its own earlier offer, and of nothing else.
 */
export class Providers {
  readonly #bound: readonly BoundProvider[]
  readonly #offers: Offers

  private constructor(bound: readonly BoundProvider[], offers: Offers) {
    this.#bound = bound
    this.#offers = offers
  }

  /** Null where there are none. */
  static async bind(host: Host, given: readonly (Capability | CapabilityProvider)[]): Promise<Bound> {
    const wanted = given.filter(isProvider)
    if (wanted.length === 0) return { host, providers: null }
    refuseTwins(wanted)
    const bound: BoundProvider[] = []
    const offers = new Offers()
    try {
      for (const item of wanted) bound.push(await item.bind(hooksOf(host, offers, item.provider)))
      const own = [...(host.workspaces?.tools ?? []), ...ownCapabilities(given)]
      const catalog = new Catalog([...own, ...bound.flatMap(({ offer }) => offer)])
      offers.into(catalog)
      return { host: { ...host, catalog }, providers: new Providers(bound, offers) }
    } catch (error) {
      await Promise.allSettled(bound.map((each) => each.close()))
      throw error
    }
  }

  async close(): Promise<void> {
    this.#offers.end()
    await Promise.allSettled(this.#bound.map((each) => each.close()))
  }
}

/** What is offered while the catalog is not there yet waits for it. */
class Offers {
  readonly #waiting = new Map<string, readonly ToolDefinition[]>()
  #catalog: Catalog | null = null
  #ended = false

  take(provider: string, offer: readonly ToolDefinition[]): void {
    if (this.#ended) return
    if (this.#catalog === null) this.#waiting.set(provider, offer)
    else this.#catalog.rebind(provider, offer)
  }

  into(catalog: Catalog): void {
    this.#catalog = catalog
    for (const [provider, offer] of this.#waiting) catalog.rebind(provider, offer)
  }

  end(): void {
    this.#ended = true
  }
}

function hooksOf(host: Host, offers: Offers, provider: string): ProviderHooks {
  const { clock, scheduler, logger, limits } = host
  return { clock, scheduler, logger, limits, changed: (offer) => offers.take(provider, offer) }
}

function refuseTwins(providers: readonly CapabilityProvider[]): void {
  const names = providers.map(({ provider }) => provider)
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  if (twin !== undefined)
    throw new LandfallError('INVALID_INPUT', 'Two providers of the catalog have one name. Rename one.', {
      details: { field: 'catalog', provider: twin },
    })
}
