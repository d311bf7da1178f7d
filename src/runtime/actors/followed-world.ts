import type { Fact } from '../../../machines/facts.ts'
import { fold } from '../../../machines/fold.ts'
import type { CallSnapshot, SessionSnapshot, TaskSnapshot, World } from '../../../machines/world.ts'
import { unpackStep } from '../../facts/codec.ts'
import type { StoredFact } from '../../facts/envelope.ts'
import { LandfallError } from '../../facts/errors.ts'
import type { Log, StoredStep } from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import { loadNewest, loadWorld } from '../load-world.ts'
import { type NotedMap, notedMap } from './noted-map.ts'

/** What one committed step changed. */
export interface FollowedStep {
  readonly facts: readonly StoredFact[]
  readonly session: SessionSnapshot | null
  readonly tasks: ReadonlyMap<string, TaskSnapshot>
  readonly calls: ReadonlyMap<string, CallSnapshot>
}

type Noting = World & {
  readonly tasks: NotedMap<string, TaskSnapshot>
  readonly calls: NotedMap<string, CallSnapshot>
}

const stepsPerRead = 64

/**
 * Owns: a second fold of one session, made of what its log holds.
 * 1. It is the fold of whole committed steps, so nothing is in it that could still be taken back.
 * 2. It shares nothing with the session that this runtime may have in memory, and slows down nobody but its own reader.
 */
export class FollowedWorld {
  readonly #log: Log
  readonly #scope: Scope
  readonly #world: Noting
  /** Cursor of the step up to which it is folded; 0 before the first. */
  readonly cursor: number

  private constructor(log: Log, scope: Scope, world: Noting, cursor: number) {
    this.#log = log
    this.#scope = scope
    this.#world = world
    this.cursor = cursor
  }

  static async open(log: Log, scope: Scope): Promise<FollowedWorld> {
    const { world } = await loadNewest(log, scope)
    const [last] = world.seq === 0 ? [] : await log.read(scope, { after: world.seq - 1, limit: 1 })
    return new FollowedWorld(log, scope, noting(world), last?.cursor ?? 0)
  }

  get world(): World {
    return this.#world
  }

  /** Folds what has been committed since, step by step; empty when there is nothing more. */
  async follow(): Promise<readonly FollowedStep[]> {
    const steps = await this.#log.read(this.#scope, { after: this.#world.seq, limit: stepsPerRead })
    return steps.map((step) => followed(this.#world, step))
  }

  /** A task as it was when it ended. */
  async ended(task: string): Promise<TaskSnapshot | null> {
    const seq = this.#world.taskRecords.get(task)?.ended?.seq
    if (seq === undefined) return null
    const before = noting((await loadWorld(this.#log, this.#scope, seq - 1)).world)
    const [step] = await this.#log.read(this.#scope, { after: seq - 1, limit: 1 })
    const fact = step === undefined ? undefined : unpackStep(step, { validate: false }).find((each) => each.seq === seq)
    if (fact === undefined) return null
    fold(before, fact as Fact)
    return before.tasks.takeNoted().get(task) ?? null
  }
}

function noting(world: World): Noting {
  return { ...world, tasks: notedMap(world.tasks), calls: notedMap(world.calls) }
}

function followed(world: Noting, step: StoredStep): FollowedStep {
  const facts = unpackStep(step, { validate: false })
  for (const fact of facts)
    if (fold(world, fact as Fact).refusedBy !== null)
      throw new LandfallError('LOG_CORRUPT', 'The log of this session does not replay. Run landfall verify.', {
        details: { session: step.scope.session, seq: fact.seq },
      })
  return { facts, session: world.session, tasks: world.tasks.takeNoted(), calls: world.calls.takeNoted() }
}
