import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { zeroHash } from '../../src/facts/chain.ts'
import { sealStep } from '../../src/facts/codec.ts'
import type { Owner, UnchainedFact } from '../../src/facts/envelope.ts'
import type { AppendResult, Content, Instance, Log, StepAppend } from '../../src/facts/log-port.ts'
import type { Clock } from '../../src/facts/ports.ts'
import type { ProcessTable } from '../../src/facts/processes.ts'
import type { Scope } from '../../src/facts/scope.ts'
import { sampleFact } from '../facts/sample-facts.ts'

/** A store that a suite may open several times, as several processes would, with time and processes in its hand. */
export interface LogStore {
  open(): Promise<Log>
  advance(ms: number): Promise<void>
  readonly host: FakeHost
  dispose(): Promise<void>
}

export type MakeStore = () => Promise<LogStore>

/** A host with one clock and processes that can be killed. */
export class FakeHost {
  #now = 1_700_000_000_000
  readonly #living = new Map<number, number>([
    [1, 100],
    [2, 200],
  ])
  readonly clock: Clock = { now: () => this.#now }
  readonly processes: ProcessTable = { host: 'here', startedAt: (pid) => this.#living.get(pid) ?? null }

  advance(ms: number): void {
    this.#now += ms
  }

  kill(pid: number): void {
    this.#living.delete(pid)
  }

  restart(pid: number): void {
    this.#living.set(pid, (this.#living.get(pid) ?? 0) + 1_000)
  }
}

export const here: Instance = { id: 'runtime-1', host: 'here', pid: 1, startedAt: 100 }
export const alsoHere: Instance = { id: 'runtime-2', host: 'here', pid: 2, startedAt: 200 }
export const elsewhere: Instance = { id: 'runtime-3', host: 'elsewhere', pid: 3, startedAt: 300 }

export const scopeA: Scope = { tenant: 't', user: 'u', session: 'a' }
export const scopeB: Scope = { tenant: 't', user: 'u', session: 'b' }

type StepOptions = Partial<Omit<StepAppend, 'scope' | 'step' | 'firstSeq' | 'prev' | 'hash' | 'body'>>

export function piece(body: string): Content {
  return { digest: `hmac-sha256:${createHash('sha256').update(body).digest('hex')}`, body }
}

/** Drafts the steps of one session in order, as the runtime would. Drafting moves on; `append` also commits. */
export class SessionDraft {
  readonly scope: Scope
  owner: Owner | null
  step = 0
  seq = 0
  hash = zeroHash

  constructor(scope: Scope, owner: Owner | null) {
    this.scope = scope
    this.owner = owner
  }

  next(options: StepOptions = {}): StepAppend {
    const made = this.peek(options)
    this.step = made.step
    this.seq += made.count
    this.hash = made.hash
    return made
  }

  /** The step that would be next, without moving on. */
  peek(options: StepOptions = {}): StepAppend {
    const count = options.count ?? 2
    const facts = Array.from({ length: count }, (_, i) => this.#fact(this.seq + 1 + i))
    const first = facts[0] as UnchainedFact
    const sealed = sealStep(this.hash, facts)
    return {
      scope: this.scope,
      step: this.step + 1,
      firstSeq: first.seq,
      count,
      at: first.at,
      prev: this.hash,
      ...sealed,
      firstId: first.id,
      lastId: (facts.at(-1) ?? first).id,
      contents: [],
      shared: [],
      owner: this.owner,
      summary: { state: 'open', queued: 0, quarantined: 0 },
      unfinished: false,
      ...options,
    }
  }

  async append(log: Log, options: StepOptions = {}): Promise<number> {
    return committed(await log.append([this.next(options)]))
  }

  #fact(seq: number): UnchainedFact {
    const fact = sampleFact('call.started', seq, this.step + 1)
    return { ...fact, ...this.scope, owner: this.owner ?? { id: '_control', epoch: 0 } }
  }
}

export async function claimed(log: Log, scope: Scope, instance = here): Promise<SessionDraft> {
  const claim = await log.claim(scope, instance)
  if (!claim.claimed) throw new Error('the session of a fresh store is owned already')
  return new SessionDraft(scope, { id: instance.id, epoch: claim.epoch })
}

export function committed(results: readonly AppendResult[]): number {
  const last = results.at(-1)
  if (last === undefined || !last.ok) throw last?.error ?? new Error('no result')
  return last.cursor
}

export function refusal(code: string, details: object = {}): unknown {
  return {
    ok: false,
    error: expect.objectContaining({ name: 'LandfallError', code, details: expect.objectContaining(details) }),
  }
}
