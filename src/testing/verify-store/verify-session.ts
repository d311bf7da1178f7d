import type { Fact } from '../../../machines/facts.ts'
import { fold } from '../../../machines/fold.ts'
import { emptyWorld } from '../../../machines/world.ts'
import { zeroHash } from '../../facts/chain.ts'
import { isStepIntact, unpackStep } from '../../facts/codec.ts'
import type { StoredFact } from '../../facts/envelope.ts'
import type { Head, Log, StoredStep } from '../../facts/log-port.ts'
import { factProblem } from '../../facts/schemas.ts'
import { controlScope, type Scope, scopeKey } from '../../facts/scope.ts'
import { createLogChecker } from '../check-log.ts'
import { ContentCheck } from './content-check.ts'
import { causeOf, Findings } from './findings.ts'
import { RequestCheck } from './request-check.ts'
import type { KeptHead, SessionVerdict } from './verdict.ts'

const stepsPerPage = 256

export async function verifySession(log: Log, scope: Scope, kept: KeptHead | null): Promise<SessionVerdict> {
  return new SessionVerification(log, scope, kept).run()
}

/**
 * Owns: what is known of one session while its records pass by once, in order.
 * 1. Where the charts refuse a fact, or a record cannot be read, folding ends: what follows would only repeat the finding. The
 *    chain, the rules over facts and the content are judged to the end.
 * 2. The session may grow meanwhile: its head is read again after the last record, never trusted from before.
 */
class SessionVerification {
  readonly #log: Log
  readonly #scope: Scope
  readonly #kept: KeptHead | null
  readonly #findings = new Findings()
  readonly #checker = createLogChecker()
  readonly #world = emptyWorld()
  /** The control stream has no charts and no content. */
  readonly #isControl: boolean
  #folding: boolean
  #content: ContentCheck | null = null
  #requests: RequestCheck | null = null
  #facts = 0
  #seq = 0
  #hash = zeroHash
  #requested = 0
  #erased = false
  #readable = true

  constructor(log: Log, scope: Scope, kept: KeptHead | null) {
    const { tenant, user, session } = scope
    this.#log = log
    this.#scope = { tenant, user, session }
    this.#kept = kept
    this.#isControl = scopeKey(scope) === scopeKey(controlScope)
    this.#folding = !this.#isControl
  }

  async run(): Promise<SessionVerdict> {
    const head = await this.#head()
    if (head?.key !== undefined) {
      const of = { log: this.#log, scope: this.#scope, key: head.key, findings: this.#findings }
      this.#content = new ContentCheck(of)
      this.#requests = new RequestCheck(of)
    }
    await this.#judgeRecords()
    for (const { invariant, seq, message } of this.#checker.end().violations)
      this.#findings.report(invariant, seq, message)
    this.#judgeEnd(await this.#head())
    return this.#verdict(head)
  }

  async #head(): Promise<Head | null> {
    try {
      return await this.#log.head(this.#scope)
    } catch (error) {
      this.#findings.report('INV-09', 1, `the head cannot be read (${causeOf(error)})`)
      return null
    }
  }

  /** Damage can be of a kind that nobody thought of; it is then a finding at the place where it was met. */
  async #judgeRecords(): Promise<void> {
    try {
      await this.#walk()
      await this.#content?.flush()
    } catch (error) {
      this.#readable = false
      this.#findings.report('INV-09', this.#seq + 1, `the records from here on cannot be judged (${causeOf(error)})`)
    }
  }

  async #walk(): Promise<void> {
    for (;;) {
      const steps = await this.#page()
      const before = this.#seq
      for (const step of steps) await this.#step(step)
      // Records that do not lead on would be read for ever.
      if (this.#seq <= before) return
    }
  }

  async #page(): Promise<readonly StoredStep[]> {
    try {
      return await this.#log.read(this.#scope, { after: this.#seq, limit: stepsPerPage })
    } catch (error) {
      this.#readable = false
      this.#findings.report('INV-09', this.#seq + 1, `the records from here on cannot be read (${causeOf(error)})`)
      return []
    }
  }

  async #step(step: StoredStep): Promise<void> {
    for (const fact of this.#unpacked(step)) await this.#fact(fact)
    const last = step.firstSeq + step.count - 1
    if (Number.isSafeInteger(last) && last > this.#seq) this.#seq = last
    if (typeof step.hash === 'string') this.#hash = step.hash
    const kept = this.#kept
    if (kept !== null && kept.seq >= step.firstSeq && kept.seq <= last && kept.hash !== step.hash)
      this.#findings.report('INV-09', kept.seq, 'the record does not have the hash of the head that was kept')
  }

  #unpacked(step: StoredStep): readonly StoredFact[] {
    try {
      if (!isStepIntact(step))
        this.#findings.report('INV-09', step.firstSeq, `the facts of step ${step.step} do not have its recorded hash`)
      return unpackStep(step, { validate: false })
    } catch (error) {
      this.#folding = false
      this.#findings.report('INV-09', step.firstSeq, `step ${step.step} cannot be read (${causeOf(error)})`)
      return []
    }
  }

  async #fact(fact: StoredFact): Promise<void> {
    this.#facts += 1
    this.#checker.push(fact)
    const problem = factProblem(fact)
    if (problem !== null) {
      this.#folding = false
      this.#findings.report('INV-09', fact.seq, `${String(fact.type)} is not of its form (${problem})`)
      return
    }
    this.#erased = fact.type === 'session.erased'
    if (fact.type === 'model.requested') this.#requested += 1
    await this.#content?.follow(fact)
    this.#fold(fact)
    if (this.#folding) await this.#requests?.follow(this.#world, fact)
  }

  #fold(fact: StoredFact): void {
    if (!this.#folding) return
    try {
      const { refusedBy } = fold(this.#world, fact as Fact)
      if (refusedBy === null) return
      this.#findings.report('INV-08', fact.seq, `${fact.type} is refused by the ${refusedBy.chart} chart`)
    } catch (error) {
      this.#findings.report('INV-08', fact.seq, `${fact.type} breaks the fold (${causeOf(error)})`)
    }
    this.#folding = false
  }

  #judgeEnd(head: Head | null): void {
    const { report } = this.#findings
    const next = this.#seq + 1
    if (!this.#readable) return
    if (head === null) report('INV-09', next, 'the session has no head')
    else if (head.seq > this.#seq) report('INV-09', next, `facts ${next} to ${head.seq} are missing`)
    else if (head.seq < this.#seq) report('INV-09', head.seq + 1, `facts up to ${this.#seq} stand behind the head`)
    else if (head.hash !== this.#hash) report('INV-09', this.#seq, 'the last record does not have the hash of the head')
    if (this.#kept !== null && this.#kept.seq > this.#seq)
      report('INV-09', next, `facts up to ${this.#kept.seq}, which the kept head names, are missing`)
    if (this.#erased) this.#findings.withoutContent()
    else if (head !== null && head.key === undefined && this.#seq > 0 && !this.#isControl)
      report('INV-14', 1, 'the key of the digests is gone, and the session was not erased')
  }

  #verdict(head: Head | null): SessionVerdict {
    const requests = this.#erased && head?.key === undefined ? 0 : (this.#requests?.rebuilt ?? 0)
    return {
      ok: this.#findings.size === 0,
      ...this.#scope,
      facts: this.#facts,
      requests,
      head: this.#hash,
      ...(this.#erased ? { erased: this.#requested - requests } : {}),
      violations: this.#findings.list(),
    }
  }
}
