import type { TerminalData } from '../../machines/facts-of-work.ts'
import { endedStatus } from '../../machines/session-context.ts'
import type { World } from '../../machines/world.ts'
import type { StoredFact } from '../facts/envelope.ts'
import { LandfallError } from '../facts/errors.ts'
import type { ModelRequest } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import type { TaskActorRef } from './actors/actor-refs.ts'
import { awaitTasks, within } from './await-tasks.ts'
import { resultOf } from './background-results.ts'
import type { Checkpoint } from './checkpoint/checkpoint-schema.ts'
import { takeCheckpoint } from './checkpoint/take-checkpoint.ts'
import type { Ended } from './ended.ts'
import { givenOptions } from './given-options.ts'
import type { GroupOutcome } from './group-handle.ts'
import { type GroupView, groupsOf, type Joined, mayEndGroup, outcomeOfGroup } from './group-reads.ts'
import { type LedgerEntry, readLedger } from './ledger.ts'
import { lookAtWorld } from './look-at-world.ts'
import type { Outcome } from './outcome.ts'
import { openPauses, type PauseView, pausesOf } from './pause-view.ts'
import type { Reach } from './reach.ts'
import { type CallEntryView, callsOf, type MessageView, messagesOf } from './read-content.ts'
import { readFacts } from './read-facts.ts'
import { rebuildRequest } from './rebuild-request.ts'
import type { Services } from './services.ts'
import { type SessionState, stateOf, type TaskView, tasksOf } from './state-view.ts'
import { patchAt } from './tree-store.ts'

export interface Page {
  /** seq after which to begin. */
  readonly after?: number
  readonly limit?: number
}

/**
 * Reads of one session. They claim nothing and change nothing: what this runtime has in memory answers when it works on the
 * session, and the log otherwise. Lists of a session that was never opened are empty; single things are NOT_FOUND.
 */
export class SessionReads {
  readonly #scope: Scope
  readonly #services: Services
  readonly #reach: Pick<Reach, 'known' | 'ended' | 'actors'>

  constructor(scope: Scope, services: Services, reach: Pick<Reach, 'known' | 'ended' | 'actors'>) {
    this.#scope = scope
    this.#services = services
    this.#reach = reach
  }

  /** Facts as `landfall log` prints them. */
  readonly log = async (page: Page = {}): Promise<readonly StoredFact[]> =>
    readFacts(this.#services.host.log, this.#scope, checkedPage(page))

  readonly messages = async (page: Page = {}): Promise<readonly MessageView[]> =>
    messagesOf(this.#services.host.log, this.#scope, checkedPage(page))

  readonly calls = async (task?: string): Promise<readonly CallEntryView[]> =>
    callsOf(this.#services.host, this.#scope, task)

  readonly tasks = (): Promise<readonly TaskView[]> => this.#look((world) => tasksOf(world))

  readonly groups = (): Promise<readonly GroupView[]> => this.#look((world) => groupsOf(world))

  /** Pending turns in the order in which they will start. */
  readonly queue = (): Promise<readonly TaskView[]> =>
    this.#look((world) => {
      const session = world.session?.context
      const order = [...(session?.slot == null ? [] : [session.slot]), ...(session?.queue ?? []).map((e) => e.task)]
      const views = new Map(tasksOf(world).map((view) => [view.id, view]))
      return order.flatMap((task) => views.get(task) ?? [])
    })

  /** What waits for a decision, newest first; after a reconnect this is the authority. */
  readonly pauses = async (): Promise<readonly PauseView[]> =>
    pausesOf(this.#services.host, this.#scope, await this.#look((world) => openPauses(world)))

  /** What changed in the workspace since the session began, as a patch that `git apply` takes; empty when nothing was recorded. */
  readonly patch = async (): Promise<string> => {
    const known = await this.#look((world) => ({ session: this.#known(world).session, tree: world.tree }))
    return patchAt(this.#services.host.log, this.#scope, known)
  }

  /** The folded state, also of the past. */
  readonly state = async (options: { at?: number } = {}): Promise<SessionState> => {
    const { at } = givenOptions(options)
    if (at === undefined) return this.#look((world) => stateOf(this.#known(world)))
    if (!Number.isSafeInteger(at) || at < 1) throw invalid('at', 'is a seq: a whole number of at least 1')
    const { world } = await this.#services.host.past.load(this.#scope, at)
    if (world.seq < at) throw notFound('seq', at)
    return stateOf(this.#known(world))
  }

  /** The model request that was sent at a fact, rebuilt from the log and content. */
  readonly request = async (options: { seq: number }): Promise<ModelRequest> =>
    rebuildRequest(this.#services.host, this.#scope, givenOptions(options).seq)

  readonly taskActor = (task: string): TaskActorRef => this.#reach.actors().task(task)

  /** What was done and decided in the session, in order, with digests as evidence. */
  readonly ledger = async (page: Page = {}): Promise<readonly LedgerEntry[]> =>
    readLedger(this.#services.host.log, this.#scope, checkedPage(page))

  /** The session as a portable document, as it is now or was at a fact. */
  readonly checkpoint = async (options: { at?: number } = {}): Promise<Checkpoint> =>
    takeCheckpoint(this.#services.host, this.#scope, givenOptions(options).at)

  /** The outcome of a task, once it has one. */
  readonly outcome = async (task: string): Promise<Outcome> => {
    const waiting = this.#reach.ended(task)
    try {
      if (!this.#lives(task)) {
        const stands = await this.#standing(task)
        if (stands !== null) return stands
      }
      if (this.#reach.known()?.owns !== true) return await this.#elsewhere(task)
      const ended = await waiting.promise
      return ended === null ? await this.outcome(task) : outcomeOf(ended)
    } finally {
      waiting.cancel()
    }
  }

  /** A group that is over has one outcome; until then its facts are followed. */
  readonly groupOutcome = async (group: string): Promise<GroupOutcome> => {
    const known = await this.#look((world) => outcomeOfGroup(world, group))
    if (known === undefined) throw notFound('group', group)
    if (known !== null) return known
    const mayEnd = mayEndGroup(group)
    for await (const event of this.#services.bus.events(this.#scope, { types: endings })) {
      const found = mayEnd(event) ? await this.#look((world) => outcomeOfGroup(world, group)) : null
      if (found != null) return found
    }
    throw closedBefore('the group was over')
  }

  /** Everything that a group has at its end, or at the deadline as much as there is. */
  readonly awaitGroup = async (group: string, deadline: string | undefined): Promise<Joined> => {
    const { host } = this.#services
    const over = await within(host, this.groupOutcome(group), deadline)
    const found = await this.#look((world) =>
      (world.groups.get(group)?.context.members ?? []).map((member) => resultOf(world, member)),
    )
    if (over === null) return { how: 'deadline', results: found.map(({ task, status }) => ({ task, status })) }
    return awaitTasks(host, { tasks: found.map(({ task }) => task), outcome: this.outcome }, undefined)
  }

  /** True when this runtime has the task in memory, not ended: then its end will be told, and nothing need be read. */
  #lives(task: string): boolean {
    const live = this.#reach.known()
    return live?.owns === true && live.held?.world.tasks.has(task) === true
  }

  async #standing(task: string): Promise<Outcome | null> {
    const record = await this.#look((world) => world.taskRecords.get(task))
    if (record === undefined) throw notFound('task', task)
    if (record.ended === null) return null
    const facts = await this.log({ after: record.ended.seq - 1, limit: 1 })
    return this.#read(facts[0])
  }

  async #read(fact: StoredFact | undefined): Promise<Outcome> {
    if (fact === undefined || endedStatus(fact) === null) throw notFound('task', String(fact?.task))
    const data = fact.data as TerminalData
    const text = data.messageId === undefined ? null : await this.#text(fact, data.messageId)
    return outcomeOf({ task: fact.task ?? '', seq: fact.seq, type: fact.type, data, text })
  }

  /** The final message stands shortly before its terminal fact; reads back from there. */
  async #text(terminal: StoredFact, message: string): Promise<string | null> {
    const page = { after: Math.max(0, terminal.seq - 64), limit: 64 }
    const found = (await this.messages(page)).find((view) => view.id === message)
    return found?.content ?? null
  }

  /** Another process works on the session: its facts tell. */
  async #elsewhere(task: string): Promise<Outcome> {
    const types = ['task.completed', 'task.failed', 'task.cancelled', 'task.superseded'] as const
    const events = this.#services.bus.events(this.#scope, { task, types })
    for await (const event of events) if ('seq' in event && endedStatus(event) !== null) return this.#read(event)
    throw closedBefore('the task ended')
  }

  async #look<T>(look: (world: World) => T): Promise<T> {
    return lookAtWorld(this.#services, this.#scope, this.#reach, look)
  }

  #known(world: World): World {
    if (world.session === null) throw notFound('session', this.#scope.session)
    return world
  }
}

function outcomeOf({ type, data, seq, text }: Ended): Outcome {
  const status = type.slice('task.'.length) as Outcome['status']
  const { messageId, code, reason, usage, steps, calls, pendingSteering } = data
  return {
    status,
    ...(text === null ? {} : { message: text }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    usage,
    steps,
    calls,
    pendingSteering,
    seq,
  }
}

/** Facts after which a group may be over. */
const endings = ['group.resolved', 'group.cancelled', 'task.completed', 'task.failed', 'task.cancelled'] as const

function closedBefore(what: string): LandfallError {
  return new LandfallError('SHUTTING_DOWN', `The runtime closed before ${what}.`, { retryable: true })
}

function notFound(what: string, id: string | number): LandfallError {
  return new LandfallError('NOT_FOUND', `No such ${what} here.`, { details: { [what]: id } })
}

function invalid(field: string, why: string): LandfallError {
  return new LandfallError('INVALID_INPUT', `${field} ${why}.`, { details: { field } })
}

function checkedPage(page: Page): Page {
  const { after = 0, limit = 1 } = givenOptions(page)
  if (!Number.isSafeInteger(after) || after < 0) throw invalid('after', 'is a seq: a whole number, not negative')
  if (!Number.isSafeInteger(limit) || limit < 1) throw invalid('limit', 'is a whole number of at least 1')
  return page
}
