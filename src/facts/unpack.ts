import type { Actor } from '../../machines/vocabulary.ts'
import type { StoredFact } from './envelope.ts'
import { LandfallError } from './errors.ts'
import type { StoredStep } from './log-port.ts'
import { bodyVersion, referenceFields } from './pack.ts'

export function corrupt(stored: StoredStep, what: string, seq = stored.firstSeq): LandfallError {
  return new LandfallError(
    'LOG_CORRUPT',
    'The log holds a damaged record. Restore the store from a backup; nothing was changed.',
    {
      details: { session: stored.scope.session, seq, what },
    },
  )
}

interface Previous {
  at: string
  id: string
  task: string | null
  run: string | null
  call: string | null
  cause: string | null
  command: string | null
  by: Actor | null
}

/** Mirrors the packer: owns the strings and actors seen so far in one step. */
export class StepUnpacker {
  readonly #stored: StoredStep
  readonly #strings: string[] = []
  readonly #actors: Actor[] = []

  constructor(stored: StoredStep) {
    this.#stored = stored
  }

  facts(): StoredFact[] {
    const body = this.#parsed()
    const at = body[1]
    const owner = body[2]
    if (
      typeof at !== 'string' ||
      !Array.isArray(owner) ||
      typeof owner[0] !== 'string' ||
      typeof owner[1] !== 'number'
    ) {
      throw corrupt(this.#stored, 'head of the body')
    }
    const shared = { id: owner[0], epoch: owner[1] }
    const last: Previous = { at, id: '', task: null, run: null, call: null, cause: null, command: null, by: null }
    const facts: StoredFact[] = []
    for (let i = 3; i < body.length; i += 1) facts.push(this.#fact(body[i], i - 3, last, shared))
    return facts
  }

  #parsed(): unknown[] {
    let body: unknown
    try {
      body = JSON.parse(this.#stored.body)
    } catch {
      throw corrupt(this.#stored, 'body is not JSON')
    }
    if (!Array.isArray(body) || body[0] !== bodyVersion) throw corrupt(this.#stored, 'body has an unknown form')
    if (body.length !== this.#stored.count + 3) throw corrupt(this.#stored, 'count of facts')
    return body
  }

  #fact(entry: unknown, index: number, last: Previous, owner: StoredFact['owner']): StoredFact {
    if (!Array.isArray(entry) || typeof entry[0] !== 'string' || !isRecord(entry[2]))
      throw corrupt(this.#stored, 'form of a fact')
    last.id = this.#id(entry[1], last.id)
    this.#strings.push(last.id)
    if (entry.length > 3) this.#change(entry[3], last)
    if (last.by === null) throw corrupt(this.#stored, 'fact without an actor')
    const { scope, count, cursor, firstSeq, step, prev, hash } = this.#stored
    // Type and data are checked by the schemas unless the caller trusts the store.
    const type = entry[0] as StoredFact['type']
    const data = entry[2] as StoredFact['data']
    return {
      v: 1,
      id: last.id,
      cursor: cursor - count + 1 + index,
      seq: firstSeq + index,
      step,
      at: last.at,
      tenant: scope.tenant,
      user: scope.user,
      session: scope.session,
      task: last.task,
      run: last.run,
      call: last.call,
      type,
      data,
      by: last.by,
      cause: last.cause,
      command: last.command,
      owner,
      prev,
      hash,
    } as StoredFact
  }

  #id(written: unknown, before: string): string {
    if (Array.isArray(written) && typeof written[0] === 'string') return written[0]
    if (typeof written !== 'string' || written.length > before.length) throw corrupt(this.#stored, 'id of a fact')
    return before.slice(0, before.length - written.length) + written
  }

  #change(changes: unknown, last: Previous): void {
    if (!isRecord(changes)) throw corrupt(this.#stored, 'changes of a fact')
    if (changes.a !== undefined) {
      if (typeof changes.a !== 'string') throw corrupt(this.#stored, 'time of a fact')
      last.at = changes.a
    }
    for (const [letter, field] of referenceFields) {
      const written = changes[letter]
      if (written !== undefined) last[field] = this.#reference(written, field)
    }
    if (changes.b !== undefined) last.by = this.#actor(changes.b)
  }

  #reference(written: unknown, field: string): string | null {
    if (written === null) return null
    if (typeof written === 'string') {
      this.#strings.push(written)
      return written
    }
    const found = typeof written === 'number' ? this.#strings[written] : undefined
    if (found === undefined) throw corrupt(this.#stored, `${field} of a fact`)
    return found
  }

  #actor(written: unknown): Actor {
    if (typeof written === 'number') {
      const known = this.#actors[written]
      if (known !== undefined) return known
    } else if (Array.isArray(written) && typeof written[0] === 'string' && typeof written[1] === 'string') {
      const actor = { kind: written[0] as Actor['kind'], id: written[1] }
      this.#actors.push(actor)
      return actor
    }
    throw corrupt(this.#stored, 'actor of a fact')
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
