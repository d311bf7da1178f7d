import type { Log } from '../facts/log-port.ts'
import { type Scope, scopeKey } from '../facts/scope.ts'
import { beginning, type Loaded, replay } from './load-world.ts'
import { packWorld, unpackWorld } from './world-snapshot.ts'

/** Facts between two kept states close to a moment that was asked for, and how far back from it they reach. */
const closeFacts = 64
const reachFacts = 512
/** And between two of the others, from which it is never far to any moment. */
const farFacts = 1_024
/** Characters of all kept states together. */
const keptChars = 32 * 1024 * 1024

interface Kept extends Omit<Loaded, 'world' | 'snapshot'> {
  readonly body: string
}

/**
 * Owns: folded states of the past that were passed lately, of the sessions that somebody looks back at.
 * 1. It answers what folding the log answers: a kept state stands at the end of a step, and the chain is checked from there on.
 * 2. What is kept is bounded over all sessions; that of the session that was looked at longest ago goes first.
 * 3. It holds folded state alone, which has no content in it.
 */
export class PastWorlds {
  readonly #log: Log
  readonly #bound: number
  /** In the order in which sessions were looked at; states of one in the order of their seq. */
  readonly #sessions = new Map<string, readonly Kept[]>()
  #chars = 0

  constructor(log: Log, bound = keptChars) {
    this.#log = log
    this.#bound = bound
  }

  /** The state at a fact, from the nearest kept one before it. */
  async load(scope: Scope, at: number): Promise<Loaded> {
    const key = scopeKey(scope)
    const start = this.#nearest(key, at) ?? beginning()
    const passed: Kept[] = []
    let before = start.seq
    const loaded = await replay(this.#log, scope, start, {
      at,
      onStep: ({ world, snapshot: _, ...there }) => {
        const isClose = there.seq > at - reachFacts && there.seq - before >= closeFacts
        if (!isClose && there.seq - before < farFacts) return
        before = there.seq
        passed.push({ ...there, body: packWorld(world, there.hash) })
      },
    })
    this.#keep(key, passed)
    return loaded
  }

  #nearest(key: string, at: number): Loaded | null {
    const kept = (this.#sessions.get(key) ?? []).findLast(({ seq }) => seq <= at)
    if (kept === undefined) return null
    const { body, ...there } = kept
    const world = unpackWorld(body, there.hash)
    return world === null ? null : { ...there, world, snapshot: { revision: 0, seq: 0 } }
  }

  #keep(key: string, passed: readonly Kept[]): void {
    const before = this.#sessions.get(key) ?? []
    const seqs = new Set(before.map(({ seq }) => seq))
    const added = passed.filter(({ seq }) => !seqs.has(seq))
    this.#sessions.delete(key)
    this.#sessions.set(key, added.length === 0 ? before : [...before, ...added].toSorted((a, b) => a.seq - b.seq))
    this.#chars += charsOf(added)
    for (const [oldest, states] of this.#sessions) {
      if (this.#chars <= this.#bound) return
      this.#sessions.delete(oldest)
      this.#chars -= charsOf(states)
    }
  }
}

function charsOf(states: readonly Kept[]): number {
  return states.reduce((sum, { body }) => sum + body.length, 0)
}
