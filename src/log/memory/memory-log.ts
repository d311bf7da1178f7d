import type { Owner } from '../../facts/envelope.ts'
import { LandfallError } from '../../facts/errors.ts'
import type {
  AppendResult,
  ClaimResult,
  ContentRef,
  Head,
  HeadFilter,
  InboxEntry,
  Instance,
  Log,
  Snapshot,
  StepAppend,
  StoredStep,
} from '../../facts/log-port.ts'
import type { Clock, Random, Scheduler } from '../../facts/ports.ts'
import { hostProcesses, type ProcessTable } from '../../facts/processes.ts'
import { controlScope, type Scope, scopeKey } from '../../facts/scope.ts'
import { systemClock, systemRandom, systemScheduler } from '../../facts/system-ports.ts'
import { admit, settleRedelivery } from '../admission.ts'
import { checkSameEntry, erasedInbox } from '../inbox-rules.ts'
import { Listeners } from '../listeners.ts'
import { isGone, type Lease, leaseEnd } from '../ownership.ts'
import { MemorySession } from './memory-session.ts'

export interface MemoryLogOptions {
  readonly clock?: Clock
  readonly random?: Random
  readonly scheduler?: Scheduler
  readonly processes?: ProcessTable
}

/** A log that lives as long as its object: for tests and the simulator. Several runtimes may share one. */
export function memoryLog(options: MemoryLogOptions = {}): Log {
  return new MemoryLog(options)
}

/**
 * Owns all sessions of one store.
 * 1. `#order` holds every step in commit order; cursors strictly increase along it.
 * 2. A method changes everything it changes before it first yields, so an append is all or nothing.
 */
class MemoryLog implements Log {
  readonly name = 'memory'
  readonly #clock: Clock
  readonly #processes: ProcessTable
  readonly #listeners: Listeners
  readonly #epoch: string
  readonly #sessions = new Map<string, MemorySession>()
  readonly #order: StoredStep[] = []
  readonly #leases = new Map<string, Lease>()
  #cursor = 0
  #closed = false

  constructor(options: MemoryLogOptions) {
    this.#clock = options.clock ?? systemClock
    this.#processes = options.processes ?? hostProcesses()
    this.#listeners = new Listeners(options.scheduler ?? systemScheduler())
    this.#epoch = Buffer.from((options.random ?? systemRandom).bytes(8)).toString('hex')
  }

  async epoch(): Promise<string> {
    return this.#epoch
  }

  async append(steps: readonly StepAppend[]): Promise<readonly AppendResult[]> {
    this.#assertOpen()
    const before = this.#cursor
    const results = steps.map((step) => this.#appendOne(step))
    if (this.#cursor > before) this.#listeners.notify()
    return results
  }

  #appendOne(step: StepAppend): AppendResult {
    const session = this.#sessions.get(scopeKey(step.scope)) ?? new MemorySession(step.scope)
    const verdict = admit(step, session, this.#controlSeq())
    if (verdict === 'redelivery') {
      const stored = session.steps[firstAfter(session.steps, step.firstSeq - 1, lastSeq)]
      const error = settleRedelivery(step, stored)
      if (error !== null || stored === undefined) return { ok: false, error: error ?? missing() }
      return { ok: true, cursor: stored.cursor, duplicate: true }
    }
    if (verdict !== 'write') return { ok: false, error: verdict }
    this.#cursor += step.count
    this.#order.push(session.write(step, this.#cursor))
    this.#sessions.set(scopeKey(step.scope), session)
    return { ok: true, cursor: this.#cursor, duplicate: false }
  }

  async read(
    scope: Scope,
    range: { after?: number; afterCursor?: number; limit: number },
  ): Promise<readonly StoredStep[]> {
    this.#assertOpen()
    const steps = this.#sessions.get(scopeKey(scope))?.steps ?? []
    const start = Math.max(
      firstAfter(steps, range.after ?? 0, lastSeq),
      firstAfter(steps, range.afterCursor ?? 0, (step) => step.cursor),
    )
    return steps.slice(start, start + range.limit)
  }

  async content(scope: Scope, refs: readonly ContentRef[]): Promise<readonly (string | null)[]> {
    this.#assertOpen()
    const session = this.#sessions.get(scopeKey(scope))
    return refs.map((ref) => session?.content(ref) ?? null)
  }

  async head(scope: Scope): Promise<Head | null> {
    this.#assertOpen()
    const session = this.#sessions.get(scopeKey(scope))
    return session === undefined || session.seq === 0 ? null : session.head()
  }

  async heads(filter: HeadFilter): Promise<readonly Head[]> {
    this.#assertOpen()
    const after = filter.after
    return [...this.#sessions.values()]
      .filter((session) => session.seq > 0 && matches(session.scope, filter))
      .filter((session) => filter.orphaned !== true || (session.unfinished && this.#isOrphan(session)))
      .filter((session) => after === undefined || compareScopes(session.scope, after) > 0)
      .sort((a, b) => compareScopes(a.scope, b.scope))
      .slice(0, filter.limit)
      .map((session) => session.head())
  }

  async tail(afterCursor: number, limit: number): Promise<readonly StoredStep[]> {
    this.#assertOpen()
    const start = firstAfter(this.#order, afterCursor, (step) => step.cursor)
    return this.#order.slice(start, start + limit)
  }

  async lastCursor(): Promise<number> {
    return this.#cursor
  }

  watch(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  async controlVersion(): Promise<number> {
    return this.#controlSeq()
  }

  async claim(scope: Scope, instance: Instance): Promise<ClaimResult> {
    this.#assertOpen()
    this.#renew(instance)
    const session = this.#session(scope)
    const owner = session.owner
    if (owner !== null && owner.id === instance.id) return { claimed: true, epoch: owner.epoch }
    if (owner !== null && !this.#isOrphan(session)) return { claimed: false, owner }
    session.epoch += 1
    session.owner = { id: instance.id, epoch: session.epoch }
    return { claimed: true, epoch: session.epoch }
  }

  async renew(instance: Instance): Promise<void> {
    this.#assertOpen()
    this.#renew(instance)
  }

  async release(scope: Scope, owner: Owner): Promise<void> {
    const session = this.#sessions.get(scopeKey(scope))
    if (session?.owner?.id === owner.id && session.owner.epoch === owner.epoch) session.owner = null
  }

  async loadSnapshot(scope: Scope): Promise<Snapshot | null> {
    this.#assertOpen()
    return this.#sessions.get(scopeKey(scope))?.snapshot ?? null
  }

  async saveSnapshot(scope: Scope, snapshot: Snapshot): Promise<boolean> {
    this.#assertOpen()
    const session = this.#sessions.get(scopeKey(scope))
    if (session === undefined || session.seq === 0 || session.erased) return false
    if ((session.snapshot?.revision ?? 0) !== snapshot.revision - 1) return false
    session.snapshot = snapshot
    return true
  }

  async putInbox(scope: Scope, entry: InboxEntry): Promise<void> {
    this.#assertOpen()
    const session = this.#session(scope)
    if (session.erased) {
      if (session.answers.has(entry.id)) return
      throw erasedInbox()
    }
    const known = session.inbox.get(entry.id)
    if (known !== undefined) checkSameEntry(known, entry)
    else session.inbox.set(entry.id, entry)
    session.answers.delete(entry.id)
    this.#listeners.notify()
  }

  async inbox(scope: Scope, limit: number): Promise<readonly InboxEntry[]> {
    this.#assertOpen()
    return [...(this.#sessions.get(scopeKey(scope))?.inbox.values() ?? [])].slice(0, limit)
  }

  async inboxAnswer(scope: Scope, id: string): Promise<string | null> {
    this.#assertOpen()
    return this.#sessions.get(scopeKey(scope))?.answers.get(id) ?? null
  }

  async settleInbox(scope: Scope, owner: Owner, entry: { id: string; answer: string }): Promise<boolean> {
    this.#assertOpen()
    const session = this.#sessions.get(scopeKey(scope))
    if (session?.owner?.id !== owner.id || session.owner.epoch !== owner.epoch) return false
    if (session.inbox.delete(entry.id)) session.answers.set(entry.id, entry.answer)
    this.#listeners.notify()
    return true
  }

  async pendingInbox(limit: number): Promise<readonly Scope[]> {
    this.#assertOpen()
    const waiting = [...this.#sessions.values()].filter((session) => session.inbox.size > 0)
    return waiting.slice(0, limit).map((session) => session.scope)
  }

  async sessionCount(): Promise<number> {
    return [...this.#sessions.values()].filter((session) => session.seq > 0).length
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#listeners.clear()
  }

  #session(scope: Scope): MemorySession {
    const key = scopeKey(scope)
    const session = this.#sessions.get(key) ?? new MemorySession(scope)
    this.#sessions.set(key, session)
    return session
  }

  #renew(instance: Instance): void {
    this.#leases.set(instance.id, { ...instance, leaseUntil: leaseEnd(this.#clock.now()) })
  }

  #controlSeq(): number {
    return this.#sessions.get(scopeKey(controlScope))?.seq ?? 0
  }

  #isOrphan(session: MemorySession): boolean {
    return session.owner === null || isGone(this.#leases.get(session.owner.id), this.#clock.now(), this.#processes)
  }

  #assertOpen(): void {
    if (this.#closed) throw new LandfallError('SHUTTING_DOWN', 'The log is closed. Open the store again.')
  }
}

function missing(): LandfallError {
  return new LandfallError('LOG_CORRUPT', 'A step is missing from the log. Restore the store from a backup.')
}

function lastSeq(step: StoredStep): number {
  return step.firstSeq + step.count - 1
}

/** Index of the first step whose position lies after `bound`; positions increase. */
function firstAfter(steps: readonly StoredStep[], bound: number, position: (step: StoredStep) => number): number {
  let low = 0
  let high = steps.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (position(steps[middle] as StoredStep) > bound) high = middle
    else low = middle + 1
  }
  return low
}

function matches(scope: Scope, filter: HeadFilter): boolean {
  return (
    (filter.tenant === undefined || filter.tenant === scope.tenant) &&
    (filter.user === undefined || filter.user === scope.user) &&
    (filter.session === undefined || filter.session === scope.session)
  )
}

function compareScopes(a: Scope, b: Scope): number {
  const [left, right] = [scopeKey(a), scopeKey(b)]
  return left < right ? -1 : left > right ? 1 : 0
}
