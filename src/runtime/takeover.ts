import type { AgendaItem } from '../../machines/agenda.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import type { Owner, StoredFact } from '../facts/envelope.ts'
import { actingIn } from './recovery.ts'
import type { Step } from './step.ts'

/**
 * Owns: what the log has yet to say of a new owner of unfinished work.
 * 1. `session.owned` stands before the first effect of the owner, and each run that an owner before had begun is resumed before
 *    its first effect here; opening alone writes neither.
 * 2. It follows committed facts, so that a step which failed has said nothing.
 */
export class Takeover {
  #before: ReadonlySet<TaskId> = new Set()
  #announced = true

  /** The session was read for the first time under this ownership. */
  begin(world: World): void {
    this.#before = new Set([...world.tasks].filter(([, snapshot]) => !snapshot.matches('pending')).map(([id]) => id))
    this.#announced = this.#before.size === 0
  }

  committed(facts: readonly StoredFact[]): void {
    const resumed = new Set(facts.flatMap(({ type, task }) => (type === 'run.resumed' && task !== null ? [task] : [])))
    if (facts.some(({ type }) => type === 'session.owned')) this.#announced = true
    if (resumed.size > 0) this.#before = new Set([...this.#before].filter((task) => !resumed.has(task)))
  }

  /** Tasks that a planned step begins effects of, when something must be said of that first; null when all is said. */
  unsaid(step: Step): ReadonlySet<TaskId> | null {
    const acting = actingIn(step)
    if (acting.size === 0) return null
    const said = new Set(step.facts.flatMap(({ type, task }) => (type === 'run.resumed' ? [task] : [])))
    const isOwned = this.#announced || step.facts.some(({ type }) => type === 'session.owned')
    const isMissing = [...acting].some((task) => this.#before.has(task) && !said.has(task))
    return isOwned && !isMissing ? null : acting
  }

  /** What is said before a step that begins effects of these tasks: with the announcement go all runs that are at work. */
  agenda(world: World, owner: Owner, acting: ReadonlySet<TaskId>): readonly AgendaItem[] {
    const items: AgendaItem[] = []
    if (!this.#announced) items.push({ type: 'session.owned', data: { owner: owner.id, epoch: owner.epoch } })
    for (const [task, snapshot] of world.tasks)
      if (this.#before.has(task) && (acting.has(task) || (!this.#announced && snapshot.matches('running'))))
        items.push({ ask: 'resumeRun', task })
    return items
  }
}
