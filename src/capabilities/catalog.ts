import type { CapabilityRef, Effect, Grant, Level } from '../../machines/vocabulary.ts'
import { canonicalJson, contractDigest } from '../facts/digest.ts'
import { LandfallError } from '../facts/errors.ts'
import type { ModelTool } from '../facts/ports.ts'
import { type ToolDefinition, toolContract } from './define-tool.ts'

export interface CatalogEntry {
  readonly ref: CapabilityRef
  readonly tool: ToolDefinition
  readonly effect: Effect
  readonly definition: ModelTool
  /** The definition as content: canonical JSON. */
  readonly body: string
}

const levels: readonly Level[] = ['none', 'discover', 'inspect', 'load', 'execute']
const confirms = ['none', 'once', 'each'] as const

/**
 * Owns: what the host offers, by capability id, and the generation of that offer.
 * 1. Ids are unique; entries are listed in id order.
 * 2. A reference names id, generation, contract, provider and binding; any difference makes it stale.
 */
export class Catalog {
  readonly generation: number
  readonly #entries: ReadonlyMap<string, CatalogEntry>

  constructor(tools: readonly ToolDefinition[], generation = 1) {
    this.generation = generation
    const entries = new Map<string, CatalogEntry>()
    for (const tool of [...tools].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const entry = entryOf(tool, generation)
      if (entries.has(entry.ref.id))
        throw new LandfallError('INVALID_INPUT', 'Two tools of the catalog have one name. Rename one.', {
          details: { field: 'catalog', name: tool.name },
        })
      entries.set(entry.ref.id, entry)
    }
    this.#entries = entries
  }

  entries(): Iterable<CatalogEntry> {
    return this.#entries.values()
  }

  /** The entry that a reference names, unless anything about it has changed. */
  current(ref: CapabilityRef): CatalogEntry | null {
    const entry = this.#entries.get(ref.id)
    if (entry === undefined) return null
    const { generation, contract, provider, binding } = entry.ref
    const same =
      generation === ref.generation && contract === ref.contract && provider === ref.provider && binding === ref.binding
    return same ? entry : null
  }
}

function entryOf(tool: ToolDefinition, generation: number): CatalogEntry {
  const contract = toolContract(tool)
  const ref = {
    id: `tool:${tool.name}`,
    generation,
    contract: contractDigest({ kind: 'tool', contract }),
    provider: 'host',
    binding: 1,
  }
  const definition = Object.freeze({
    name: tool.name,
    description: tool.description,
    inputSchema: contract.input,
  })
  return { ref, tool, effect: tool.effect, definition, body: canonicalJson(definition) }
}

/** The lower level and the stricter confirmation: a grant is narrowed, never widened. */
export function narrowerGrant(left: Grant, right: Grant): Grant {
  const level = levels[Math.min(levels.indexOf(left.level), levels.indexOf(right.level))] ?? 'none'
  const confirm = confirms[Math.max(confirms.indexOf(left.confirm), confirms.indexOf(right.confirm))] ?? 'each'
  return { level, confirm }
}

export function isAtLeast(grant: Grant | undefined, level: Level): boolean {
  return grant !== undefined && levels.indexOf(grant.level) >= levels.indexOf(level)
}
