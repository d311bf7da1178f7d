import { type AgendaItem, type Ask, type Intent, isAsk } from '../../machines/agenda.ts'
import type { Draft, Fact, FactType } from '../../machines/facts.ts'
import { fold } from '../../machines/fold.ts'
import type { Target } from '../../machines/routing.ts'
import { limitOf } from '../../machines/session-context.ts'
import type { Actor, Digest } from '../../machines/vocabulary.ts'
import type { World } from '../../machines/world.ts'
import { utf8Bytes } from '../context/occupancy.ts'
import { keyedDigest } from '../facts/digest.ts'
import type { Owner, UnchainedFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import { nextId } from '../facts/ids.ts'
import type { Content } from '../facts/log-port.ts'
import type { Scope } from '../facts/scope.ts'
import type { ModelAnswer } from '../models/read-stream.ts'
import type { Bodies } from './bodies.ts'
import type { ControlStream } from './control-stream.ts'
import type { Host } from './options.ts'
import { auditsOf } from './redaction-audit.ts'
import type { TaskDesk } from './task-desk.ts'

/** The chain's end and the owner: what a step continues. */
export interface Head {
  readonly seq: number
  readonly step: number
  readonly hash: string
  readonly lastId: string
}

/** What a step is planned on: the folded state with its content, all in memory. */
export interface StepBase {
  readonly host: Host
  readonly scope: Scope
  readonly world: World
  readonly bodies: Bodies
  readonly desks: Map<string, TaskDesk>
  readonly key: string
  readonly head: Head
  readonly owner: Owner
  /** What this process has seen of the control stream. */
  readonly control: Pick<ControlStream, 'version' | 'isRevoked' | 'isDisabled'>
  /** The runtime is closing: results are recorded, nothing new begins. */
  readonly closing: boolean
  /** Bytes that a request in flight has received so far. */
  readonly received: (task: string) => number
  /** Answers the charts' asks with the facts that they stand for. */
  readonly expand: (step: Step, ask: Ask) => readonly AgendaItem[]
}

/** What came with the command: who sent it, and raw results that facts only name. */
export interface StepInput {
  readonly by: Actor
  readonly cause: string | null
  readonly command: string | null
  readonly answer?: ModelAnswer
  /** The text that a summary model has written for a task. */
  readonly summary?: { readonly task: string; readonly text: string }
}

const runtimeActor: Actor = { kind: 'runtime', id: 'landfall' }

/** A chart said no to the first fact; nothing has changed. */
export class RefusedStep extends Error {
  readonly target: Target
  constructor(target: Target) {
    super('refused')
    this.target = target
  }
}

/**
 * Owns: one step while it is planned.
 * 1. Facts are folded in the order in which they will stand; what follows from a fact comes directly behind it, depth first.
 * 2. A refusal of the first fact leaves the world untouched; of a later one it is our fault, and the world must be read anew.
 * 3. Every digest that a fact of this step introduces has its content in this step.
 * 4. Nothing here performs anything: intents are collected, for after the commit.
 */
export class Step {
  readonly base: StepBase
  readonly input: StepInput
  readonly now: number
  readonly facts: UnchainedFact[] = []
  readonly intents: Intent[] = []
  readonly contents = new Map<Digest, Content>()
  readonly shared = new Map<string, Content>()
  /** Takes back what a command put into memory, when it is refused. */
  readonly undo: (() => void)[] = []
  /** Tasks that fail in this step: nothing of theirs starts any more. */
  readonly failing = new Set<string>()
  /** Inbox entries that this step carries out. */
  readonly answers: { readonly id: string; readonly answer: string }[] = []
  /** Tasks of whose view something was left out in this step. */
  readonly evicted = new Set<string>()
  /** Tasks that no summary was admitted for in this step. */
  readonly unsummarised = new Set<string>()
  #summary: StepInput['summary'] | null
  /** Fields that a failing redactor kept out of the fact that comes next. */
  #withheld: string[] = []
  /** An answer's text, an input or a result is named by several facts of a step, and digested once. */
  readonly #put = new Map<string, { readonly digest: Digest; readonly bytes: number }>()
  readonly #at: string
  readonly #factsMax: number
  #lastId: string
  #by: Actor

  constructor(base: StepBase, input: StepInput) {
    this.base = base
    this.input = input
    this.#summary = input.summary ?? null
    this.#by = input.by
    this.now = base.host.clock.now()
    this.#at = new Date(this.now).toISOString()
    this.#lastId = base.head.lastId
    const settings = base.world.session?.context
    this.#factsMax = settings === undefined ? base.host.limits.factsPerStep : limitOf(settings, 'factsPerStep', 1_024)
  }

  /** The summary that came with the command, once. */
  takeSummary(task: string): string | null {
    if (this.#summary?.task !== task) return null
    const { text } = this.#summary
    this.#summary = null
    return text
  }

  get world(): World {
    return this.base.world
  }

  run(agenda: readonly AgendaItem[], cause: string | null = this.input.cause): void {
    for (const item of agenda) {
      if (isAsk(item)) this.run(this.base.expand(this, item), cause)
      else this.#fold(item, cause)
    }
  }

  /** What somebody else than the step's own actor does in it. */
  runAs(by: Actor, agenda: readonly AgendaItem[]): void {
    this.#by = by
    this.run(agenda)
    this.#by = this.input.by
  }

  /** Digest of content that this step introduces. */
  put(body: string): { readonly digest: Digest; readonly bytes: number } {
    const known = this.#put.get(body)
    if (known !== undefined) return known
    const put = { digest: this.digest(body), bytes: utf8Bytes(body) }
    this.#put.set(body, put)
    this.contents.set(put.digest, { digest: put.digest, body })
    return put
  }

  /** A value that could not be redacted was kept out of the fact that is drafted next, which then says so. */
  withhold(field: string): void {
    this.#withheld.push(field)
  }

  digest(value: unknown): Digest {
    return keyedDigest(this.base.key, value)
  }

  newId(): string {
    return this.base.host.ids.next()
  }

  /** An absolute time, as facts hold it. */
  after(ms: number): string {
    return new Date(this.now + ms).toISOString()
  }

  #fold(draft: AgendaItem & { type: FactType }, cause: string | null): void {
    if (this.facts.length >= this.#factsMax)
      throw new LandfallError('LIMIT_EXCEEDED', 'One step would hold too many facts. Send less at once.', {
        details: { which: 'factsPerStep', bound: this.#factsMax, got: this.facts.length + 1 },
      })
    const fact = this.#complete(draft as Draft, cause)
    const folded = fold(this.world, fact as Fact)
    if (folded.refusedBy !== null) {
      if (this.facts.length === 0) throw new RefusedStep(folded.refusedBy)
      throw new LandfallError('INTERNAL', 'A derived fact was refused by its chart. Report this as a bug.', {
        details: { type: fact.type, chart: folded.refusedBy.chart, after: this.facts.at(-1)?.type },
      })
    }
    this.facts.push(fact)
    for (const intent of folded.intents) this.intents.push(intent)
    for (const audit of auditsOf(fact, this.#withheld.splice(0))) this.#fold(audit, fact.id)
    if (folded.agenda.length > 0) this.run(folded.agenda, fact.id)
  }

  #complete(draft: Draft, cause: string | null): UnchainedFact {
    const { base } = this
    this.#lastId = nextId(this.#lastId, base.host.ids)
    const task = draft.task ?? null
    return {
      v: 1,
      id: this.#lastId,
      seq: base.head.seq + this.facts.length + 1,
      step: base.head.step + 1,
      at: this.#at,
      tenant: base.scope.tenant,
      user: base.scope.user,
      session: base.scope.session,
      task,
      run: this.#runOf(draft, task),
      call: draft.call ?? null,
      type: draft.type,
      data: draft.data,
      by: this.#actorOf(draft, cause),
      cause,
      command: this.input.command,
      owner: base.owner,
    } as UnchainedFact
  }

  /** A run begins with its task's start and has one id across pauses and owners. */
  #runOf(draft: Draft, task: string | null): string | null {
    if (task === null) return null
    if (draft.type === 'task.started') return this.newId()
    return this.world.taskRecords.get(task)?.run ?? null
  }

  #actorOf(draft: Draft, cause: string | null): Actor {
    if (cause === this.input.cause) return this.#by
    if (draft.type === 'task.created' && 'parent' in draft.data)
      return { kind: 'planner', id: String(draft.data.parent) }
    if (draft.type === 'call.requested') return { kind: 'planner', id: draft.task ?? '' }
    return runtimeActor
  }
}
