import type { StoredFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { isFactType } from '../facts/schemas.ts'
import { type PassingEvent, passingTypes } from './events.ts'

export interface EventsOptions {
  /** `<epoch>-<n>` to go on after it, 'now' for what is to come; absent: from the first fact. */
  readonly after?: string | undefined
  readonly types?: readonly string[] | undefined
  readonly task?: string | undefined
  /** true: deltas and progress too. They have no seq, so a reader of facts gets them only when it asks. */
  readonly ephemeral?: boolean | undefined
}

/** What of its scope a subscriber wants. One filter for replay and for live, so that they cannot differ. */
export class Interest {
  readonly #types: ReadonlySet<string> | null
  readonly #task: string | null
  readonly #passing: boolean
  /** Nothing is filtered, so that the commonest subscriber costs no look-up a fact. */
  readonly all: boolean

  constructor(options: EventsOptions) {
    this.#types = options.types === undefined ? null : new Set(checkedTypes(options.types))
    this.#task = options.task === undefined ? null : checkedTask(options.task)
    this.#passing = options.ephemeral === true
    this.all = this.#types === null && this.#task === null
  }

  wants(fact: StoredFact): boolean {
    if (this.all) return true
    return this.#matches(fact.type, fact.task)
  }

  wantsPassing(event: PassingEvent): boolean {
    return this.#passing && this.#matches(event.type, event.task)
  }

  #matches(type: string, task: string | null): boolean {
    return (this.#task === null || task === this.#task) && (this.#types === null || this.#types.has(type))
  }
}

function checkedTypes(types: unknown): readonly string[] {
  if (!Array.isArray(types)) throw invalid('types', 'Give the types as a list of names.')
  const known: readonly string[] = passingTypes
  for (const type of types) {
    if (typeof type !== 'string' || !(isFactType(type) || known.includes(type))) {
      throw invalid('types', 'There is no event of one of these types. Use names of the catalogue.')
    }
  }
  return types
}

function checkedTask(task: unknown): string {
  if (typeof task !== 'string' || task === '') throw invalid('task', 'Give the id of the task as a string.')
  return task
}

function invalid(field: string, message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field } })
}
