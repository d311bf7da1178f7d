import type { CallId, JsonObject, TaskId } from '../../machines/vocabulary.ts'
import type { ActiveSkill, TaskRecord } from '../../machines/world.ts'
import type { SkillEntry, ToolEntry } from '../capabilities/catalog.ts'
import type { CatalogSnapshot } from '../capabilities/catalog-snapshot.ts'
import { argumentProblem, type ToolDefinition } from '../capabilities/define-tool.ts'
import { skillText } from '../capabilities/skill-text.ts'
import { utf8Bytes } from '../context/occupancy.ts'
import type { Offer } from './offer.ts'
import type { RequestView } from './request-view.ts'

interface Supply {
  readonly offer: (loaded: readonly string[]) => Offer
  readonly skill: (active: ActiveSkill) => string
}

interface Parts {
  readonly task: TaskId
  readonly system: string
  readonly snapshot: CatalogSnapshot
  readonly tools: ReadonlyMap<string, ToolEntry>
  readonly skills: ReadonlyMap<string, SkillEntry>
  readonly view: RequestView
}

const nothingOffered: Offer = { tools: [], loaded: new Set(), digest: '', occupancy: 0 }

/**
 * Owns: what a live task keeps in memory beside its facts, all of it rebuilt from facts and content when a new owner takes over.
 * 1. `snapshot` is the frozen catalog that the task started with; `tools` and `skills` what of it this host can perform, by name.
 * 2. `offer` and `system` follow what the task has loaded and activated, and nothing else.
 * 3. `view` is the task's selection of the conversation.
 */
export class TaskDesk {
  readonly task: TaskId
  readonly snapshot: CatalogSnapshot
  readonly tools: ReadonlyMap<string, ToolEntry>
  readonly skills: ReadonlyMap<string, SkillEntry>
  readonly view: RequestView
  readonly #baseSystem: string
  readonly #problems = new Map<CallId, string | null>()
  #loaded: readonly string[] | null = null
  #active: readonly ActiveSkill[] = []
  #system: string
  #offer: Offer = nothingOffered

  constructor(parts: Parts) {
    this.task = parts.task
    this.snapshot = parts.snapshot
    this.tools = parts.tools
    this.skills = parts.skills
    this.view = parts.view
    this.#baseSystem = parts.system
    this.#system = parts.system
  }

  /** System text with the texts of the active skills behind it. */
  get system(): string {
    return this.#system
  }

  get offer(): Offer {
    return this.#offer
  }

  /** Bytes of tools and system text, the constant part of a request's occupancy. */
  get baseOccupancy(): number {
    return this.#offer.occupancy + utf8Bytes(this.#system)
  }

  /** Lists of the record are never changed in place, so an unchanged one is the same one. */
  equip(record: TaskRecord, supply: Supply): void {
    if (record.loaded !== this.#loaded) {
      this.#loaded = record.loaded
      this.#offer = supply.offer(record.loaded)
    }
    if (record.active === this.#active) return
    this.#active = record.active
    this.#system = [this.#baseSystem, ...record.active.map((active) => skillText(active.id, supply.skill(active)))]
      .filter((part) => part !== '')
      .join('\n\n')
  }

  /** What is wrong with a call's arguments, judged once a call; null: nothing. */
  problemOf(call: CallId, tool: ToolDefinition, args: JsonObject): string | null {
    const known = this.#problems.get(call)
    if (known !== undefined) return known
    const problem = argumentProblem(tool, args)
    this.#problems.set(call, problem)
    return problem
  }
}
