import { type AggregateOptions, aggregate, type Bucket } from '../bus/aggregate.ts'
import type { EventStream } from '../bus/event-stream.ts'
import type { WideFilter } from '../bus/identity.ts'
import type { EventsOptions } from '../bus/interest.ts'
import { shownDescription } from '../capabilities/catalog-snapshot.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import { checkedIdentifier } from './checked-scope.ts'
import { entryOf, type SessionEntry } from './list-sessions.ts'
import type { Services } from './services.ts'

export interface CapabilityEntry {
  readonly id: string
  readonly kind: 'tool' | 'skill'
  readonly name: string
  /** Absent when its provider is not trusted. */
  readonly description?: string
  readonly tags: readonly string[]
  readonly provider: string
  readonly effect?: 'read' | 'idempotent' | 'mutate'
  readonly confirm?: 'none' | 'once' | 'each'
  readonly load?: 'start' | 'demand'
  readonly generation: number
  readonly revoked: boolean
  readonly disabled: boolean
}

/** Who looks beyond one session, and how far; the caller has checked the claim. */
export interface ElevatedEvents extends EventsOptions {
  readonly elevated: { readonly actor: string; readonly scope: 'user' | 'tenant' | 'fleet' }
}

/** Reads of the store as a whole, for whoever serves it to others. They claim nothing. */
export class StoreReads {
  readonly #services: Services

  constructor(services: Services) {
    this.#services = services
  }

  /** The summary of one session, or `NOT_FOUND`. */
  async session(scope: Scope): Promise<SessionEntry> {
    const head = await this.#services.host.log.head(scope)
    if (head === null) throw new LandfallError('NOT_FOUND', 'No such session here. Start a turn in it first.')
    return entryOf(head)
  }

  /** How many facts of a session fell into each bucket of a window that ends now. */
  aggregate(scope: Scope, options: Omit<AggregateOptions, 'now' | 'scheduler'>): Promise<readonly Bucket[]> {
    const { log, clock, scheduler } = this.#services.host
    return aggregate(log, scope, { ...options, now: clock.now(), scheduler })
  }

  /** The position behind everything that is committed now. */
  position(): Promise<string> {
    return this.#services.bus.position()
  }

  /** Refuses what `events` would refuse as a position, before there is a stream. */
  checkPosition(after: string): Promise<void> {
    return this.#services.bus.checkPosition(after)
  }

  /** Events of many sessions. Each use is recorded before anything is read, also when it finds nothing. */
  async events(filter: WideFilter, { elevated, ...options }: ElevatedEvents): Promise<EventStream> {
    const { actor, scope } = elevated
    const { redactor } = this.#services.host
    const data = { actor: checkedIdentifier(redactor, 'actor', actor), surface: 'events', filter: { ...filter, scope } }
    const stream = this.#services.bus.eventsWide(filter, options)
    for (const kind of ['tenant', 'user'] as const)
      if (filter[kind] !== undefined) checkedIdentifier(redactor, kind, filter[kind])
    await this.#services.control.append(actor, { type: 'audit.elevated', data })
    return stream
  }

  /** What the host offers now, and what of it nobody may use any more. */
  capabilities(): readonly CapabilityEntry[] {
    const { host, control } = this.#services
    return [...host.catalog.entries()].map(({ ref, described }) => {
      const description = shownDescription(described, undefined)
      return {
        id: ref.id,
        kind: described.kind,
        name: described.name,
        ...(description === null ? {} : { description }),
        tags: described.tags,
        provider: ref.provider,
        ...(described.kind === 'tool'
          ? { effect: described.contract.effect, confirm: described.confirm, load: described.load }
          : {}),
        generation: ref.generation,
        revoked: control.isRevoked(ref.id),
        disabled: control.isDisabled(ref.provider),
      }
    })
  }
}
