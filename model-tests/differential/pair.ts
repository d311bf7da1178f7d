import { isDeepStrictEqual } from 'node:util'
import type { StoredFact } from '../../src/facts/envelope.ts'
import { isLandfallError, OutcomeUnknownError } from '../../src/facts/errors.ts'
import type { Receipt } from '../../src/runtime/command.ts'
import type { HeldRequest } from '../../test/runtime/kit/held-model.ts'
import type { HeldCall } from '../../test/runtime/kit/held-tool.ts'
import { openRig, type Rig } from '../../test/runtime/kit/rig.ts'
import type { Command } from '../reference/commands.ts'
import type { WorldEvent } from '../reference/events.ts'
import { emptyModel, isRefusal, type Model, observe, type Verdict } from '../reference/model.ts'
import { apply } from '../reference/reference-model.ts'
import { effectOf, type Move, type ToolName, toolNames } from './moves.ts'
import { type Observed, observeSession } from './observed-session.ts'
import { submit } from './submit.ts'

const queueBound = 3

/** The two disagree; the message says on what, after which moves. */
export class Disagreement extends Error {
  override readonly name = 'Disagreement'
}

type Answered = { readonly receipt: Receipt } | { readonly code: string }

/**
 * Owns: a real session and the reference model of it, and the table of their names.
 * 1. After every move both are in the same state, and both gave the same answer; otherwise `play` throws a `Disagreement`.
 * 2. A started call has an attempt under way in the living process that was told to stop exactly when its task is ending.
 * 3. Names are given in the order of creation: T1, C1, S1.
 */
export class Pair {
  readonly rig: Rig
  readonly played: Move[] = []
  model: Model = emptyModel(queueBound)
  readonly #names = new Map<string, string>()
  readonly #ids = new Map<string, string>()
  readonly #counts = { T: 0, C: 0, S: 0 }
  readonly #over = new Set<HeldRequest | HeldCall>()
  #facts: StoredFact[] = []

  private constructor(rig: Rig) {
    this.rig = rig
  }

  static async open(): Promise<Pair> {
    const tools = Object.fromEntries(toolNames.map((name) => [name, { effect: effectOf[name] }]))
    const limits = { queuedPerSession: queueBound }
    return new Pair(await openRig({ tools, limits, requestTimeoutMs: 10 ** 9 }))
  }

  get facts(): readonly StoredFact[] {
    return this.#facts
  }

  async play(move: Move): Promise<void> {
    this.played.push(move)
    await this.#carryOut(move)
    await this.#compare()
  }

  async #carryOut(move: Move): Promise<void> {
    switch (move.do) {
      case 'final':
        return this.#answer([])
      case 'calls':
        return this.#answer(move.names)
      case 'stale':
        return this.#answerStale()
      case 'return':
      case 'throw':
      case 'lose':
      case 'stop':
        return this.#end(move.do, move.call)
      case 'grace':
        await this.rig.time.advance(20_000)
        return this.#happens({ type: 'grace' })
      case 'moment':
        return this.rig.time.advance(10)
      case 'crash':
        await this.rig.time.settle()
        this.rig.crash()
        for (const attempt of this.#attempts()) this.#over.add(attempt)
        await this.rig.open()
        return this.#happens({ type: 'crash' })
      default:
        return this.#command(move)
    }
  }

  /** A command to both: the same answer in both. */
  async #command(move: Parameters<typeof submit>[1]): Promise<void> {
    const ids = {
      id: (name: string) => this.#ids.get(name),
      model: this.model,
      token: this.#token(),
      next: (letter: 'T' | 'S') => this.#next(letter),
    }
    const asked = submit(this.rig.session, move, ids)
    if (asked === null) return
    const { command, sent } = asked
    const answered = await sent.then(
      (receipt): Answered => ({ receipt }),
      (error: unknown): Answered => {
        if (isLandfallError(error)) return { code: error.code }
        throw error
      },
    )
    const { model, verdict } = apply(this.model, command)
    await this.#read()
    if ('receipt' in answered && 'id' in command) this.#nameNew(command, answered.receipt)
    this.#judge(verdict, answered)
    this.model = model
  }

  #token(): string {
    const newest = this.#facts.findLast(({ type }) => type === 'pause.requested')
    return newest?.type === 'pause.requested' ? newest.data.token : 'there-is-none'
  }

  #nameNew(command: Extract<Command, { id: string }>, receipt: Receipt): void {
    if (command.type !== 'steer') return this.#name(command.id, receipt.task)
    // The step of a new owner begins with what says so.
    const first = this.#facts[(receipt.seq ?? 0) - 1]
    const queued = this.#facts.findLast(({ step, type }) => step === first?.step && type === 'steering.queued')
    this.#name(command.id, queued?.type === 'steering.queued' ? queued.data.message : undefined)
  }

  #judge(verdict: Verdict, answered: Answered): void {
    const name = (id: string | undefined) => (id === undefined ? undefined : this.#nameOf(id))
    const got =
      'code' in answered
        ? { refused: answered.code }
        : {
            result: answered.receipt.result,
            task: name(answered.receipt.task),
            replacement: name(answered.receipt.replacement),
            superseded: name(answered.receipt.superseded),
          }
    if (isRefusal(verdict)) {
      if ('refused' in got && verdict.refused.includes(got.refused ?? '')) return
      throw this.#disagree('the answer', { refused: verdict.refused }, got)
    }
    const { results, task, replacement, superseded } = verdict
    const fits = 'result' in got && results.some((result) => result === got.result)
    const expected = {
      result: fits && 'result' in got ? got.result : results.join(' or '),
      task,
      replacement,
      superseded,
    }
    if (!isDeepStrictEqual(got, expected)) throw this.#disagree('the answer', expected, got)
    this.#checkReceipt(answered)
  }

  /** INV-24: what was answered as done is in the log. */
  #checkReceipt(answered: Answered): void {
    if (!('receipt' in answered)) return
    const { result, seq, task } = answered.receipt
    const fact = this.#facts[(seq ?? 0) - 1]
    if (seq === undefined ? result === 'applied' || result === 'queued' : fact?.seq !== seq)
      throw this.#disagree('the receipt', 'a fact in the log', answered.receipt)
    if (seq === undefined || task === undefined) return
    if (!this.#facts.some((other) => other.step === fact?.step && other.task === task))
      throw this.#disagree('the receipt', 'a fact of its task in its step', answered.receipt)
  }

  #happens(event: WorldEvent): void {
    this.model = apply(this.model, event).model
  }

  async #answer(names: readonly ToolName[]): Promise<void> {
    const request = this.rig.model.asked.at(-1)
    const task = this.model.tasks.find(({ requesting }) => requesting)
    if (task === undefined || request === undefined) return
    if (request.signal.aborted || this.#over.has(request))
      throw this.#disagree('the model', 'a request under way', 'none that lives')
    this.#over.add(request)
    const ids = names.map(() => this.#next('C'))
    if (names.length === 0) request.text('an answer at last')
    else request.calls(...names.map((name, at) => [name, { id: ids[at] }] as const))
    await this.#read()
    const requested = this.#facts.filter(({ type }) => type === 'call.requested').slice(-names.length || Infinity)
    for (const [at, fact] of requested.entries()) this.#name(ids[at] ?? '', fact.call ?? undefined)
    const calls = ids.map((id, at) => ({ id, effect: effectOf[names[at] ?? 'look'] }))
    this.#happens({ type: 'answer', task: task.id, calls })
  }

  /** A request that was given up, or that a dead process had sent, is answered after all. */
  async #answerStale(): Promise<void> {
    const asked = this.rig.model.asked
    const requesting = this.model.tasks.some((task) => task.requesting)
    const stale = asked.slice(0, requesting ? -1 : undefined).find((request) => !this.#over.has(request))
    if (stale === undefined) return
    this.#over.add(stale)
    stale.calls(['order'])
  }

  #attempts(): readonly HeldCall[] {
    return toolNames.flatMap((name) => this.rig.tool(name).calls)
  }

  /** The newest attempt of a call ends; nothing when none is under way any more, or when there is nothing to acknowledge. */
  async #end(how: 'return' | 'throw' | 'lose' | 'stop', age: number): Promise<void> {
    const name = `C${this.#counts.C - age}`
    const attempt = this.#attempts().findLast(({ id }) => id === this.#ids.get(name))
    if (attempt === undefined || this.#over.has(attempt) || (how === 'stop' && !attempt.aborted)) return
    this.#over.add(attempt)
    const thrown = attempt.aborted ? 'unknown' : 'failed'
    if (how === 'return') attempt.returns('it was done well')
    else if (how === 'throw') attempt.throws(new Error('it went wrong'))
    else if (how === 'lose') attempt.throws(new OutcomeUnknownError('the line went dead'))
    else attempt.acknowledges()
    const outcome = ({ return: 'succeeded', throw: thrown, lose: 'lost', stop: 'cancelled' } as const)[how]
    await this.rig.time.settle()
    this.#happens({ type: 'outcome', call: name, outcome })
  }

  async #compare(): Promise<void> {
    await this.#read()
    const first = this.#facts[0]
    if (first === undefined) return
    const got = observeSession(await this.rig.session.state(), this.#facts, (id) => this.#nameOf(id))
    const expected: Observed = observe(this.model)
    for (const key of Object.keys(expected) as (keyof Observed)[])
      if (!isDeepStrictEqual(sorted(got[key]), sorted(expected[key])))
        throw this.#disagree(key, expected[key], got[key])
    this.#compareAttempts()
  }

  #compareAttempts(): void {
    for (const task of this.model.tasks)
      for (const call of task.calls) {
        if (call.state !== 'started') continue
        const attempts = this.#attempts().filter(({ id }) => id === this.#ids.get(call.id))
        const newest = attempts.at(-1)
        const expected = { attempts: call.attempts, live: true, aborted: task.state === 'cancelling' }
        const live = newest !== undefined && !this.#over.has(newest)
        const got = { attempts: attempts.length, live, aborted: newest?.aborted ?? false }
        if (!isDeepStrictEqual(got, expected)) throw this.#disagree(`the attempts of ${call.id}`, expected, got)
      }
  }

  async #read(): Promise<void> {
    await this.rig.time.settle()
    this.#facts = [...(await this.rig.facts())]
  }

  #next(letter: 'T' | 'C' | 'S'): string {
    this.#counts[letter] += 1
    return `${letter}${this.#counts[letter]}`
  }

  #name(name: string, id: string | undefined): void {
    if (id === undefined) throw this.#disagree('names', `an id for ${name}`, 'none')
    this.#names.set(id, name)
    this.#ids.set(name, id)
  }

  #nameOf(id: string): string {
    return this.#names.get(id) ?? `unknown ${id}`
  }

  #disagree(what: string, expected: unknown, got: unknown): Disagreement {
    const moves = this.played.map((move) => JSON.stringify(move)).join(',\n  ')
    const lines = [`expected ${JSON.stringify(expected)}`, `got      ${JSON.stringify(got)}`, `after [\n  ${moves}\n]`]
    return new Disagreement(`${what} differs\n${lines.join('\n')}`)
  }
}

/** Fates that are no order of their own are compared as sets. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('expired' in value)) return value
  const { pending, applied, expired } = value as Observed['steering']
  return { pending: [...pending].sort(byNumber), applied, expired: [...expired].sort(byNumber) }
}

function byNumber(a: string, b: string): number {
  return Number(a.slice(1)) - Number(b.slice(1))
}
