import type { ContentAt } from '../../machines/content-at.ts'
import type { Fact, FactOf } from '../../machines/facts.ts'
import type { Digest } from '../../machines/vocabulary.ts'
import { canonicalJson } from '../facts/digest.ts'
import type { Scope } from '../facts/scope.ts'

export type SharedScope = 'user' | 'tenant'
type MemoryFact = FactOf<'memory.put'> | FactOf<'memory.removed'> | FactOf<'memory.promoted'>

/** Whose memory it is: of one user of one tenant, or of the whole tenant. */
export interface MemoryOwner {
  readonly scope: SharedScope
  readonly tenant: string
  readonly user?: string
}

export interface SharedNote extends ContentAt {
  readonly key: Digest
  readonly bytes: number
}

/** A decision that was recorded under a command id. */
export interface DecidedCommand {
  readonly type: MemoryFact['type']
  readonly key: Digest
  readonly scope: string
}

export function ownerOf({ tenant, user }: Pick<Scope, 'tenant' | 'user'>, scope: SharedScope): MemoryOwner {
  return scope === 'tenant' ? { scope, tenant } : { scope, tenant, user }
}

/** What a key's digest is made of: the owner is part of it, so that equal keys of two users have nothing in common. */
export function sharedKeyBody(owner: MemoryOwner, key: string): string {
  return canonicalJson({ ...owner, key })
}

export function keyOfBody(body: string): string {
  return (JSON.parse(body) as { key: string }).key
}

/**
 * Owns: where the notes of users and tenants are, folded from the control stream.
 * 1. A note is found under its owner alone; what is another's is not there.
 * 2. It holds places and sizes. What was noted stays in the store's content.
 */
export class ControlMemory {
  readonly #notes = new Map<string, Map<Digest, SharedNote>>()
  readonly #commands = new Map<string, DecidedCommand>()

  fold(fact: Fact & { readonly command?: string | null }): void {
    if (fact.type !== 'memory.put' && fact.type !== 'memory.removed' && fact.type !== 'memory.promoted') return
    this.#remember(fact)
    const { key, scope, digest, of, bytes = 0, decision } = fact.data
    if (scope === 'session' || of?.user === undefined || fact.type === 'memory.promoted' || decision === 'denied')
      return
    const owner = ownerKey(ownerOf({ tenant: of.tenant, user: of.user }, scope))
    const notes = this.#notes.get(owner) ?? new Map<Digest, SharedNote>()
    notes.delete(key)
    if (fact.type === 'memory.put' && digest !== undefined) notes.set(key, { key, digest, step: fact.step, bytes })
    if (notes.size === 0) this.#notes.delete(owner)
    else this.#notes.set(owner, notes)
  }

  find(owner: MemoryOwner, key: Digest): SharedNote | undefined {
    return this.#notes.get(ownerKey(owner))?.get(key)
  }

  /** In the order in which they were written last. */
  notes(owner: MemoryOwner): readonly SharedNote[] {
    return [...(this.#notes.get(ownerKey(owner))?.values() ?? [])]
  }

  decided(from: Scope, command: string): DecidedCommand | undefined {
    return this.#commands.get(commandKey(from, command))
  }

  /** Refusals are not remembered: a repeat is decided anew. */
  #remember({ type, data, ...fact }: MemoryFact & { readonly command?: string | null }): void {
    const { of, key, scope, decision } = data
    if (fact.command == null || decision !== 'allowed' || of?.session === undefined || of.user === undefined) return
    const from = { tenant: of.tenant, user: of.user, session: of.session }
    this.#commands.set(commandKey(from, fact.command), { type, key, scope })
  }
}

function ownerKey({ scope, tenant, user = '' }: MemoryOwner): string {
  return `${scope}\u0000${tenant}\u0000${user}`
}

function commandKey({ tenant, user, session }: Scope, command: string): string {
  return [tenant, user, session, command].join('\u0000')
}
