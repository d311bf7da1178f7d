import type { CapabilityRef, Effect } from '../../machines/vocabulary.ts'
import { canonicalJson, contractDigest } from '../facts/digest.ts'
import { LandfallError } from '../facts/errors.ts'
import type { CatalogSnapshot, DescribedCapability } from './catalog-snapshot.ts'
import { type SkillDefinition, skillContract } from './define-skill.ts'
import { type ToolDefinition, toolContract } from './define-tool.ts'
import { hostOrigin, type Origin } from './origin.ts'
import { plannerDefinitions } from './planner-tools.ts'
import { isToolSchema } from './tool-schema.ts'

/** What a host puts into its catalog. */
export type Capability = ToolDefinition | SkillDefinition

interface Entry {
  readonly ref: CapabilityRef
  readonly name: string
  readonly described: DescribedCapability
}

export interface ToolEntry extends Entry {
  readonly kind: 'tool'
  readonly tool: ToolDefinition
  readonly effect: Effect
}

export interface SkillEntry extends Entry {
  readonly kind: 'skill'
  readonly skill: SkillDefinition
}

export type CatalogEntry = ToolEntry | SkillEntry

/**
 * Owns: what the host offers, by capability id, and the generation of that offer.
 * 1. Ids are unique, and so are the names of tools; entries are listed in id order.
 * 2. A reference names id, generation, contract, provider and binding; any difference makes it stale.
 * 3. A generation never changes: what replaces it is the next one, and every older reference is stale then; where one provider
 *    offers something else, those of the others stand.
 */
export class Catalog {
  #generation = 0
  #entries: ReadonlyMap<string, CatalogEntry> = new Map()
  #body = ''

  constructor(capabilities: readonly Capability[]) {
    this.replace(capabilities)
  }

  get generation(): number {
    return this.#generation
  }

  /** All that tasks are told of this generation, as content: what a request was made from is read from here for ever. */
  get body(): string {
    return this.#body
  }

  replace(capabilities: readonly Capability[]): void {
    const generation = this.#generation + 1
    this.#take(
      capabilities.map((capability) => entryOf(capability, generation)),
      generation,
    )
  }

  /** Another offer of one provider. */
  rebind(provider: string, capabilities: readonly Capability[]): void {
    const generation = this.#generation + 1
    const others = [...this.#entries.values()].filter(({ ref }) => ref.provider !== provider)
    this.#take([...others, ...capabilities.map((capability) => entryOf(capability, generation))], generation)
  }

  #take(made: CatalogEntry[], generation: number): void {
    const entries = new Map<string, CatalogEntry>()
    const names = new Set<string>()
    for (const entry of made.sort((a, b) => (a.ref.id < b.ref.id ? -1 : 1))) {
      const name = `${entry.kind}:${entry.name}`
      if (entries.has(entry.ref.id) || names.has(name))
        throw new LandfallError('INVALID_INPUT', 'Two capabilities of the catalog have one name. Rename one.', {
          details: { field: 'catalog', name: entry.name },
        })
      entries.set(entry.ref.id, entry)
      names.add(name)
    }
    this.#entries = entries
    this.#generation = generation
    const snapshot: CatalogSnapshot = {
      planner: plannerDefinitions,
      capabilities: [...entries.values()].map((entry) => entry.described),
    }
    this.#body = canonicalJson(snapshot)
  }

  entries(): Iterable<CatalogEntry> {
    return this.#entries.values()
  }

  get(id: string): CatalogEntry | null {
    return this.#entries.get(id) ?? null
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

function entryOf(capability: Capability, generation: number): CatalogEntry {
  if (!isCapability(capability))
    throw new LandfallError('INVALID_INPUT', 'The catalog takes what defineTool, defineSkill and mcpProvider give.', {
      details: { field: 'catalog' },
    })
  const origin = capability.origin ?? hostOrigin(capability)
  return capability.kind === 'tool'
    ? toolEntry(capability, origin, generation)
    : skillEntry(capability, origin, generation)
}

/** By shape: a host's modules may have their own copy of the package. */
function isCapability(value: unknown): value is Capability {
  if (typeof value !== 'object' || value === null) return false
  const { kind, name, description, tags, body, input, run, effect } = value as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || typeof description !== 'string' || !Array.isArray(tags)) return false
  if (kind === 'skill') return typeof body === 'string'
  return kind === 'tool' && typeof run === 'function' && typeof effect === 'string' && isToolSchema(input)
}

function refOf(origin: Origin, generation: number, contract: unknown): CapabilityRef {
  const { id, provider, binding } = origin
  return { id, generation, contract: contractDigest(contract), provider, binding }
}

function toolEntry(tool: ToolDefinition, origin: Origin, generation: number): ToolEntry {
  const contract = toolContract(tool)
  const { name, description, tags, load, confirm, effect } = tool
  const { id, provider, trust } = origin
  return {
    kind: 'tool',
    name,
    tool,
    effect,
    ref: refOf(origin, generation, { kind: 'tool', contract }),
    described: { kind: 'tool', id, name, description, tags, provider, trust, load, confirm, contract },
  }
}

function skillEntry(skill: SkillDefinition, origin: Origin, generation: number): SkillEntry {
  const { name, description, tags, disableModelInvocation } = skill
  const { id, provider, trust } = origin
  const { manifest, body } = skillContract(skill)
  const contract = { manifest: contractDigest(manifest), body: contractDigest(body) }
  return {
    kind: 'skill',
    name,
    skill,
    ref: refOf(origin, generation, { kind: 'skill', contract }),
    described: { kind: 'skill', id, name, description, tags, provider, trust, contract, disableModelInvocation },
  }
}
