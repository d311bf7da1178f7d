import { isDeepStrictEqual } from 'node:util'
import type { StoredFact } from '../../src/facts/envelope.ts'
import type { HeldRequest } from '../../test/runtime/kit/held-model.ts'
import type { HeldCall } from '../../test/runtime/kit/held-tool.ts'
import { openRig, type Rig } from '../../test/runtime/kit/rig.ts'
import type { WorldEvent } from '../reference/events.ts'
import { ancestorsOf, emptyModel, isRefusal, type Model, observe, type RefTask } from '../reference/model.ts'
import { apply } from '../reference/reference-model.ts'
import { effectOf, toolNames } from './moves.ts'
import { observeSession } from './observed-session.ts'
import { Disagreement } from './pair.ts'
import type { Awaited, TreeMove } from './tree-moves.ts'
import { commandOf, oneOf, sent, type TreeNames } from './tree-submit.ts'

const depthBound = 3
const childBound = 5

/**
 * Owns: a real session with a tree of tasks, the reference model of it, and the table of their names.
 * 1. After every move both are in the same state and gave the same answer; otherwise `play` throws a `Disagreement`.
 * 2. Every task has an input of its own, by which its requests are told apart. Names are given in the order of creation.
 * 3. What the pages leave open is not played: children of tasks that have ended or are ending.
 */
export class TreePair {
  readonly rig: Rig
  readonly played: TreeMove[] = []
  model: Model = emptyModel(256, depthBound, childBound)
  facts: readonly StoredFact[] = []
  readonly #names = new Map<string, string>()
  readonly #ids = new Map<string, string>()
  readonly #inputs = new Map<string, string>()
  readonly #over = new Set<HeldRequest | HeldCall>()
  #made = 0

  private constructor(rig: Rig) {
    this.rig = rig
  }

  static async open(): Promise<TreePair> {
    const tools = Object.fromEntries(toolNames.map((name) => [name, { effect: effectOf[name] }]))
    const limits = { childDepth: depthBound, livingChildrenPerSession: childBound }
    return new TreePair(await openRig({ tools, limits, requestTimeoutMs: 10 ** 9 }))
  }

  async play(move: TreeMove): Promise<void> {
    this.played.push(move)
    await this.#carryOut(move)
    await this.#compare()
  }

  async #carryOut(move: TreeMove): Promise<void> {
    switch (move.do) {
      case 'grace':
        await this.rig.time.advance(20_000)
        return this.#happens({ type: 'grace' })
      case 'crash':
        await this.rig.time.settle()
        this.rig.crash()
        for (const attempt of this.#attempts()) this.#over.add(attempt)
        await this.rig.open()
        return this.#happens({ type: 'crash' })
      case 'return':
      case 'stop':
        return this.#end(move.do, move.call)
      case 'final':
        return this.#answer(move.task, (request) => request.text('an answer at last'), { calls: [] })
      case 'refuse':
        return this.#refuse(move.task)
      case 'calls':
        return this.#calls(move)
      default:
        return this.#operate(move)
    }
  }

  /** Of the tasks that ask now. */
  #asking(age: number): RefTask | undefined {
    return oneOf(
      this.model.tasks.filter(({ requesting }) => requesting),
      age,
    )
  }

  /** The newest request whose last input is that of the task. */
  #requestOf(task: RefTask): HeldRequest {
    const input = this.#inputs.get(task.id)
    const found = this.rig.model.asked.findLast(
      ({ request }) => request.messages.findLast(({ content }) => content.startsWith('job '))?.content === input,
    )
    if (found === undefined || found.signal.aborted || this.#over.has(found))
      throw this.#disagree('the model', `a request of ${task.id} under way`, 'none that lives')
    return found
  }

  async #answer(
    age: number,
    say: (request: HeldRequest) => void,
    event: Omit<Extract<WorldEvent, { type: 'answer' }>, 'type' | 'task'>,
  ): Promise<void> {
    const task = this.#asking(age)
    if (task === undefined) return
    const request = this.#requestOf(task)
    this.#over.add(request)
    say(request)
    await this.#read()
    const before = this.#names.size
    for (const fact of this.facts)
      if (fact.type === 'call.requested' && !this.#names.has(fact.call ?? ''))
        this.#name(this.#next('C'), fact.call ?? '')
    const named = [...this.#names.values()].slice(before)
    const calls = event.calls.map(({ effect }, at) => ({ id: named[at] ?? 'a call that is missing', effect }))
    this.#happens({ type: 'answer', task: task.id, ...event, calls })
  }

  async #refuse(age: number): Promise<void> {
    const task = this.#asking(age)
    if (task === undefined) return
    const request = this.#requestOf(task)
    this.#over.add(request)
    request.fails('REFUSED', false)
    await this.#read()
    this.#happens({ type: 'refused', task: task.id })
  }

  async #calls({ task, names, awaits }: Extract<TreeMove, { do: 'calls' }>): Promise<void> {
    if (names.length === 0 && awaits === undefined) return
    const target = awaits === undefined ? null : this.#awaited(task, awaits)
    if (awaits !== undefined && target === null) return
    const asked = names.map((name) => [name, {}] as const)
    const awaiting = target === null ? [] : [['task_await', target.theirs] as const]
    const calls = names.map((name) => ({ id: '', effect: effectOf[name] }))
    const event = target === null ? { calls } : { calls, awaits: target.ours }
    await this.#answer(task, (request) => request.calls(...asked, ...awaiting), event)
  }

  /** Mostly a descendant of the caller; where it has none, any task, which is refused. */
  #awaited(age: number, awaits: Awaited) {
    if ('task' in awaits) {
      const caller = this.#asking(age)
      const own = this.model.tasks.filter(
        (each) => caller !== undefined && ancestorsOf(this.model, each).includes(caller),
      )
      const id = oneOf(own.length > 0 ? own : this.model.tasks, awaits.task)?.id
      return id === undefined ? null : { ours: { tasks: [id] }, theirs: { tasks: [this.#id(id)] } }
    }
    const id = this.model.groups[awaits.group]?.id
    return id === undefined ? null : { ours: { group: id }, theirs: { group: this.#id(id) } }
  }

  #attempts(): readonly HeldCall[] {
    return toolNames.flatMap((name) => this.rig.tool(name).calls)
  }

  /** The newest attempt of a call ends; nothing when none is under way, or when there is nothing to acknowledge. */
  async #end(how: 'return' | 'stop', age: number): Promise<void> {
    const name = this.model.tasks.flatMap(({ calls }) => calls.map(({ id }) => id)).at(-1 - age)
    const attempt = this.#attempts().findLast(({ id }) => this.#names.get(id) === name)
    if (name === undefined || attempt === undefined || this.#over.has(attempt)) return
    if (how === 'stop' && !attempt.aborted) return
    this.#over.add(attempt)
    if (how === 'return') attempt.returns('it was done well')
    else attempt.acknowledges()
    await this.rig.time.settle()
    this.#happens({ type: 'outcome', call: name, outcome: how === 'return' ? 'succeeded' : 'cancelled' })
  }

  async #operate(move: TreeMove): Promise<void> {
    const names: TreeNames = {
      model: this.model,
      id: (name) => this.#id(name),
      next: (letter) => this.#next(letter),
      inputOf: (name, key) => this.#inputOf(name, key),
    }
    const command = commandOf(move, names)
    if (command === null) return
    const answered = await sent(this.rig.session, command, names)
    const { model, verdict } = apply(this.model, command)
    await this.#read()
    if (isRefusal(verdict)) {
      if (!verdict.refused.includes(answered.code ?? '')) throw this.#disagree('the answer', verdict, answered)
    } else {
      if (!verdict.results.some((result) => result === answered.result))
        throw this.#disagree('the answer', verdict, answered)
      if ('id' in command && command.type !== 'steer' && answered.id !== undefined && !this.#names.has(answered.id))
        this.#name(command.id, answered.id)
      if (command.type === 'steer') this.#nameSteer(command.id)
      if (command.type === 'spawn' && this.#names.get(answered.id ?? '') !== verdict.task)
        throw this.#disagree('the task of a spawn', verdict.task, answered)
    }
    this.model = model
  }

  #nameSteer(name: string): void {
    const queued = this.facts.findLast(({ type }) => type === 'steering.queued')
    if (queued?.type === 'steering.queued') this.#name(name, queued.data.message)
  }

  #happens(event: WorldEvent): void {
    this.model = apply(this.model, event).model
  }

  async #compare(): Promise<void> {
    await this.#read()
    if (this.facts.length === 0) return
    const got = observeSession(
      await this.rig.session.state(),
      this.facts,
      (id) => this.#names.get(id) ?? `unknown ${id}`,
    )
    const expected = observe(this.model)
    for (const key of Object.keys(expected) as (keyof typeof expected)[])
      if (!isDeepStrictEqual(unordered(got[key]), unordered(expected[key])))
        throw this.#disagree(key, expected[key], got[key])
  }

  async #read(): Promise<void> {
    await this.rig.time.settle()
    this.facts = await this.rig.facts()
  }

  #next(letter: string): string {
    this.#made += 1
    return `${letter}${this.#made}`
  }

  #inputOf(name: string, key?: number): string {
    const input = this.#inputs.get(name) ?? (key === undefined ? `job ${name}.` : `job of key ${key}`)
    this.#inputs.set(name, input)
    return input
  }

  #name(name: string, id: string): void {
    this.#names.set(id, name)
    this.#ids.set(name, id)
  }

  #id(name: string): string {
    return this.#ids.get(name) ?? 'there-is-none'
  }

  #disagree(what: string, expected: unknown, got: unknown): Disagreement {
    const list = this.played.map((move) => JSON.stringify(move)).join(',\n  ')
    return new Disagreement(
      `${what} differs\nexpected ${JSON.stringify(expected)}\ngot      ${JSON.stringify(got)}\nafter [\n  ${list}\n]`,
    )
  }
}

/** Several tasks end and ask in one step; the pages give them no order. */
function unordered(value: unknown): unknown {
  if (Array.isArray(value)) return [...value].sort()
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unordered(each)]))
}
