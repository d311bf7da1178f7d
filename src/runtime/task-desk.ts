import type { CallId, JsonObject, TaskId } from '../../machines/vocabulary.ts'
import type { CatalogEntry } from '../capabilities/catalog.ts'
import { argumentProblem, type ToolDefinition } from '../capabilities/define-tool.ts'
import { occupancyOfTools, utf8Bytes } from '../context/occupancy.ts'
import type { ModelTool } from '../facts/ports.ts'
import type { RequestView } from './request-view.ts'

/**
 * Owns: what a live task keeps in memory beside its facts, all of it rebuilt from facts and content when a new owner takes over.
 * 1. `tools` is the frozen snapshot of the catalog that the task started with.
 * 2. `view` is the task's selection of the conversation.
 */
export class TaskDesk {
  readonly task: TaskId
  readonly system: string
  readonly entries: ReadonlyMap<string, CatalogEntry>
  readonly tools: readonly ModelTool[]
  readonly loaded: ReadonlySet<string>
  /** Digest of the tools as they are sent; part of every request digest. */
  readonly toolsDigest: string
  /** Bytes of tools and system text, the constant part of a request's occupancy. */
  readonly baseOccupancy: number
  readonly view: RequestView

  readonly #problems = new Map<CallId, string | null>()

  /** What is wrong with a call's arguments, judged once a call; null: nothing. */
  problemOf(call: CallId, tool: ToolDefinition, args: JsonObject): string | null {
    const judged = this.#problems.get(call)
    if (judged !== undefined) return judged
    const problem = argumentProblem(tool, args)
    this.#problems.set(call, problem)
    return problem
  }

  constructor(parts: {
    task: TaskId
    system: string
    entries: ReadonlyMap<string, CatalogEntry>
    tools: readonly ModelTool[]
    toolsDigest: string
    view: RequestView
  }) {
    this.task = parts.task
    this.system = parts.system
    this.entries = parts.entries
    this.tools = parts.tools
    this.loaded = new Set(parts.tools.map((tool) => tool.name))
    this.toolsDigest = parts.toolsDigest
    this.view = parts.view
    this.baseOccupancy = occupancyOfTools(parts.tools) + utf8Bytes(parts.system)
  }
}
