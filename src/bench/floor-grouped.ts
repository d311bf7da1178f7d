/**
 * Owns the queue of a floor with group commit: steps of many sessions that are ready at the same turn of the event loop
 * share one transaction.
 * 1. `append` settles only after the transaction that holds the step is durable.
 * 2. A batch holds at most `batchSteps` steps; what is over waits for the next.
 */
import { createHash } from 'node:crypto'
import { type FloorStep, type FloorStore, preparedTurn } from './floor.ts'
import { FloorFold } from './floor-charts.ts'
import { floorRow, floorTurn } from './floor-rows.ts'

const batchSteps = 256

interface Waiting {
  readonly step: FloorStep
  readonly done: () => void
}

export class GroupCommit {
  readonly #store: FloorStore
  #waiting: Waiting[] = []

  constructor(store: FloorStore) {
    this.#store = store
  }

  append(step: FloorStep): Promise<void> {
    return new Promise((done) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush())
      this.#waiting.push({ step, done })
    })
  }

  #flush(): void {
    const batch = this.#waiting.slice(0, batchSteps)
    this.#waiting = this.#waiting.slice(batchSteps)
    this.#store.commit(batch.map((entry) => entry.step))
    for (const entry of batch) entry.done()
    if (this.#waiting.length > 0) setImmediate(() => this.#flush())
  }
}

/** One session's turns over group commit, with rows made ready beforehand: writing and waiting alone. */
export async function groupedSession(commits: GroupCommit, turns: readonly (readonly FloorStep[])[]): Promise<void> {
  for (const steps of turns) for (const step of steps) await commits.append(step)
}

export function preparedTurns(session: number, turns: number): readonly (readonly FloorStep[])[] {
  return Array.from({ length: turns }, (_, index) => preparedTurn(session, index + 1))
}

/**
 * One session's turns over group commit with the work that no event-sourced runtime can leave out: each event through the
 * charts, each row serialized, each step hashed with SHA-256 over its rows and the hash of the step before.
 */
export async function workingSession(commits: GroupCommit, session: number, turns: number): Promise<string> {
  const fold = new FloorFold()
  let hash = '0'.repeat(64)
  let seq = 1
  for (let turn = 1; turn <= turns; turn += 1) {
    for (const events of floorTurn(turn)) {
      const firstSeq = seq
      for (const event of events) fold.offer(event)
      const rows = events.map((event) => floorRow(event, session, seq++))
      hash = createHash('sha256').update(hash).update(rows.join('\n')).digest('hex')
      await commits.append({ session, firstSeq, rows })
    }
  }
  return hash
}
