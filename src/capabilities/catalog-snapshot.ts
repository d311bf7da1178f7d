import { isAtLeast } from '../../machines/grant-order.ts'
import type { Confirm, Effect, Grant } from '../../machines/vocabulary.ts'
import type { ModelTool } from '../facts/ports.ts'
import type { Trust } from './origin.ts'

interface Described {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly provider: string
  readonly trust: Trust
}

export interface DescribedTool extends Described {
  readonly kind: 'tool'
  readonly load: 'start' | 'demand'
  readonly confirm: Confirm
  readonly contract: {
    readonly input: Record<string, unknown>
    readonly output: Record<string, unknown> | null
    readonly effect: Effect
  }
}

export interface DescribedSkill extends Described {
  readonly kind: 'skill'
  readonly disableModelInvocation: boolean
  readonly contract: { readonly manifest: string; readonly body: string }
}

export type DescribedCapability = DescribedTool | DescribedSkill

/** The catalog as tasks see it, in id order: stored once a session and read again whenever a request is rebuilt. */
export interface CatalogSnapshot {
  readonly planner: readonly ModelTool[]
  readonly capabilities: readonly DescribedCapability[]
}

export const emptySnapshot: CatalogSnapshot = { planner: [], capabilities: [] }

/** Throws what is no snapshot: it was stored by us, so anything else is damage. */
export function parseSnapshot(body: string): CatalogSnapshot {
  const { planner, capabilities } = JSON.parse(body) as Partial<CatalogSnapshot>
  if (!Array.isArray(planner) || !Array.isArray(capabilities)) throw new TypeError('this is no snapshot of a catalog')
  return { planner, capabilities }
}

type Grants = { readonly [id: string]: Grant }

/** Tools that are offered without being asked for, where the grants let them be loaded. */
export function coreTools(snapshot: CatalogSnapshot, grants: Grants): readonly DescribedTool[] {
  return snapshot.capabilities.filter(
    (described): described is DescribedTool =>
      described.kind === 'tool' && described.load === 'start' && isAtLeast(grants[described.id], 'load'),
  )
}

/** What a request offers: planner tools, then core tools in id order, then what was loaded, in the order of loading. */
export function offeredTools(
  snapshot: CatalogSnapshot,
  grants: Grants,
  loaded: readonly string[],
): readonly DescribedTool[] {
  const byId = new Map(snapshot.capabilities.map((described) => [described.id, described]))
  const more = loaded.flatMap((id) => {
    const described = byId.get(id)
    return described?.kind === 'tool' ? [described] : []
  })
  return [...coreTools(snapshot, grants), ...more]
}

export function modelTool({ name, description, contract }: DescribedTool): ModelTool {
  return Object.freeze({ name, description, inputSchema: contract.input })
}

/**
 * What may be shown of a description. That of an untrusted provider is withheld until the host's policy approves the capability
 * by letting the task inspect it.
 */
export function shownDescription(described: DescribedCapability, grant: Grant | undefined): string | null {
  return described.trust !== 'untrusted' || isAtLeast(grant, 'inspect') ? described.description : null
}
