import { type Scope, scopeKey } from '../facts/scope.ts'
import type { WideFilter } from './identity.ts'
import type { Subscription } from './subscription.ts'

interface WideGroup {
  readonly filter: WideFilter
  readonly members: Set<Subscription>
}

/**
 * Owns who listens.
 * 1. A subscription is in one group: that of its session, or that of its wide filter. A group without members is not kept.
 * 2. Finding who hears a fact takes one look-up and a walk over the wide groups, however many sessions are listened to.
 */
export class Audience {
  readonly #sessions = new Map<string, Set<Subscription>>()
  readonly #wide = new Map<string, WideGroup>()
  #size = 0

  get size(): number {
    return this.#size
  }

  count(audience: string): number {
    return this.#sessions.get(audience)?.size ?? this.#wide.get(audience)?.members.size ?? 0
  }

  add(subscription: Subscription, filter: WideFilter | null): void {
    const { audience } = subscription
    if (filter === null) {
      const members = this.#sessions.get(audience) ?? new Set()
      this.#sessions.set(audience, members.add(subscription))
    } else {
      const group = this.#wide.get(audience) ?? { filter, members: new Set() }
      group.members.add(subscription)
      this.#wide.set(audience, group)
    }
    this.#size += 1
  }

  /** False when it was not there any more. */
  remove(subscription: Subscription): boolean {
    const { audience } = subscription
    const members = this.#sessions.get(audience) ?? this.#wide.get(audience)?.members
    if (members?.delete(subscription) !== true) return false
    this.#size -= 1
    if (members.size === 0) {
      this.#sessions.delete(audience)
      this.#wide.delete(audience)
    }
    return true
  }

  session(scope: Scope): ReadonlySet<Subscription> | undefined {
    return this.#sessions.get(scopeKey(scope))
  }

  /** The members of each wide group that covers the scope; null when there is none. */
  wide(scope: Scope): ReadonlySet<Subscription>[] | null {
    if (this.#wide.size === 0) return null
    const covering = [...this.#wide.values()].filter((group) => covers(group.filter, scope))
    return covering.length === 0 ? null : covering.map((group) => group.members)
  }

  everyone(): Subscription[] {
    const groups = [...this.#sessions.values(), ...[...this.#wide.values()].map((group) => group.members)]
    return groups.flatMap((members) => [...members])
  }
}

/** NUL stands at both ends, so that no session's key is equal to it. */
export function wideKey(filter: WideFilter): string {
  return `\u0000${filter.tenant ?? ''}\u0000${filter.user ?? ''}\u0000`
}

export function covers(filter: WideFilter, scope: Scope): boolean {
  return (
    (filter.tenant === undefined || filter.tenant === scope.tenant) &&
    (filter.user === undefined || filter.user === scope.user)
  )
}
