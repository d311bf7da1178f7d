import type { Owner } from '../../facts/envelope.ts'
import type {
  Content,
  ContentRef,
  Head,
  InboxEntry,
  SessionSummary,
  Snapshot,
  StepAppend,
  StoredStep,
} from '../../facts/log-port.ts'
import type { Scope } from '../../facts/scope.ts'
import type { SessionHead } from '../admission.ts'

const unopened: SessionSummary = { state: 'open', queued: 0, quarantined: 0 }

/** Owns everything that one session has in a memory log. Steps are kept in order and never change. */
export class MemorySession implements SessionHead {
  readonly scope: Scope
  readonly steps: StoredStep[] = []
  readonly inbox = new Map<string, InboxEntry>()
  readonly answers = new Map<string, string>()
  seq = 0
  step = 0
  hash = '0'.repeat(64)
  lastId = ''
  owner: Owner | null = null
  epoch = 0
  erased = false
  unfinished = false
  snapshot: Snapshot | null = null
  readonly #contents = new Map<number, readonly Content[]>()
  readonly #shared = new Map<string, string>()
  #summary = unopened
  #updatedAt = ''
  #key: string | undefined

  constructor(scope: Scope) {
    this.scope = scope
  }

  write(step: StepAppend, cursor: number): StoredStep {
    const { scope, firstSeq, count, prev, hash, body } = step
    const stored = { scope, step: step.step, firstSeq, count, cursor, prev, hash, body }
    this.steps.push(stored)
    this.seq = firstSeq + count - 1
    this.step = step.step
    this.hash = hash
    this.lastId = step.lastId
    this.unfinished = step.unfinished
    this.#summary = step.summary
    this.#updatedAt = step.at
    if (step.key !== undefined) this.#key = step.key
    if (step.contents.length > 0) this.#contents.set(step.step, step.contents)
    for (const { digest, body: text } of step.shared) this.#shared.set(digest, text)
    if (step.erase === true) this.#erase()
    for (const { id, answer } of step.answers ?? []) {
      this.inbox.delete(id)
      this.answers.set(id, answer)
    }
    return stored
  }

  content(ref: ContentRef): string | null {
    if (ref.step === 0) return this.#shared.get(ref.digest) ?? null
    return this.#contents.get(ref.step)?.find((piece) => piece.digest === ref.digest)?.body ?? null
  }

  head(): Head {
    return {
      scope: this.scope,
      seq: this.seq,
      step: this.step,
      hash: this.hash,
      lastId: this.lastId,
      updatedAt: this.#updatedAt,
      summary: this.#summary,
      unfinished: this.unfinished,
      owner: this.owner,
      ...(this.#key === undefined ? {} : { key: this.#key }),
    }
  }

  #erase(): void {
    this.erased = true
    this.#contents.clear()
    this.#shared.clear()
    this.#key = undefined
    this.inbox.clear()
    this.answers.clear()
    this.snapshot = null
  }
}
