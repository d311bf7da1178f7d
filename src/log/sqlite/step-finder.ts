import type { Database, Statement } from 'better-sqlite3'

interface Place {
  readonly cursor: number
  readonly step: number
  readonly first_seq: number
  readonly count: number
}

/**
 * Owns the search for a step by its number. There is no index on it: an index is one more page in every commit, while step
 * numbers and seqs of a session grow together, so a few probes of the index on seq find a step.
 */
export class StepFinder {
  readonly #head: Statement<[number], { readonly seq: number; readonly step: number }>
  readonly #holding: Statement<[number, number], Place>

  constructor(db: Database) {
    this.#head = db.prepare('SELECT seq, step FROM sessions WHERE sid = ?')
    this.#holding = db.prepare(
      'SELECT cursor, step, first_seq, count FROM steps WHERE sid = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1',
    )
  }

  /** A search over the session as it is now; gives the cursor of a step, or null. */
  search(sid: number): (step: number) => number | null {
    const head = this.#head.get(sid) ?? { seq: 0, step: 0 }
    let hint: Place | null = null
    return (step) => {
      if (step < 1 || step > head.step) return null
      // Steps are mostly asked for in order: begin after the one found last.
      const start = hint !== null && hint.step <= step ? hint : null
      const found = this.#probe(sid, step, head, start)
      if (found !== null) hint = found
      return found?.cursor ?? null
    }
  }

  /**
   * Each step has at least one fact, which bounds where it can begin; every probe narrows the bounds from one side, also
   * where records are missing or their numbers are damaged.
   */
  #probe(sid: number, step: number, head: { seq: number; step: number }, start: Place | null): Place | null {
    let low = start === null ? step : start.first_seq + step - start.step
    let lowStep = start?.step ?? 1
    let high = head.seq - (head.step - step)
    let highStep = head.step
    for (let probes = 0; low <= high; probes += 1) {
      const share = highStep === lowStep ? 0.5 : (step - lowStep) / (highStep - lowStep)
      // Interpolation finds it in a few probes; halving in between bounds what uneven steps can cost.
      const where = probes % 3 === 2 ? 0.5 : Math.min(1, Math.max(0, share))
      const guess = low + Math.floor((high - low) * where)
      const place = this.#holding.get(sid, guess)
      if (place === undefined || place.step === step) return place ?? null
      if (place.step < step) {
        low = Math.max(guess + 1, place.first_seq + place.count + (step - place.step - 1))
        lowStep = place.step
      } else {
        high = Math.min(guess - 1, place.first_seq - (place.step - step))
        highStep = place.step
      }
    }
    return null
  }
}
