import type { CallId, JsonObject, TaskId } from '../../machines/vocabulary.ts'
import { argumentProblem, type ToolDefinition } from '../capabilities/define-tool.ts'
import { utf8Bytes } from '../context/occupancy.ts'
import type { Offer } from './offer.ts'
import type { RequestView } from './request-view.ts'

/**
 * Owns: what a live task keeps in memory beside its facts, all of it rebuilt from facts and content when a new owner takes over.
 * 1. `offer` is the frozen snapshot of the catalog that the task started with.
 * 2. `view` is the task's selection of the conversation.
 */
export class TaskDesk {
  readonly task: TaskId
  readonly system: string
  readonly offer: Offer
  readonly view: RequestView
  /** Bytes of tools and system text, the constant part of a request's occupancy. */
  readonly baseOccupancy: number
  readonly #problems = new Map<CallId, string | null>()

  constructor(parts: { task: TaskId; system: string; offer: Offer; view: RequestView }) {
    this.task = parts.task
    this.system = parts.system
    this.offer = parts.offer
    this.view = parts.view
    this.baseOccupancy = parts.offer.occupancy + utf8Bytes(parts.system)
  }

  /** What is wrong with a call's arguments, judged once a call; null: nothing. */
  problemOf(call: CallId, tool: ToolDefinition, args: JsonObject): string | null {
    const judged = this.#problems.get(call)
    if (judged !== undefined) return judged
    const problem = argumentProblem(tool, args)
    this.#problems.set(call, problem)
    return problem
  }
}
