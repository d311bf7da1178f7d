import type { Grant, Json, JsonObject, SteeringFate } from '../../machines/vocabulary.ts'
import type { OwnLimits } from '../facts/own-limits.ts'
import type { Scope } from '../facts/scope.ts'
import type { SessionActorRef } from './actors/actor-refs.ts'
import { awaitTasks } from './await-tasks.ts'
import type { CommandOptions, Receipt } from './command.ts'
import { type CommandName, checkBody } from './command-bodies.ts'
import { givenId, givenOptions } from './given-options.ts'
import { GroupHandle } from './group-handle.ts'
import type { Joined } from './group-reads.ts'
import { type Input, textOf } from './input.ts'
import { lookAtWorld } from './look-at-world.ts'
import { operatorRequest } from './operator-requests.ts'
import type { Reach } from './reach.ts'
import type { Services } from './services.ts'
import { SessionMemory } from './session-memory.ts'
import { SessionReads } from './session-reads.ts'
import { TaskHandle } from './task-handle.ts'

export interface TurnOptions extends CommandOptions {
  readonly model?: string
  readonly system?: string
  readonly settings?: JsonObject
  readonly grants?: { readonly [id: string]: Grant }
  readonly skills?: readonly string[]
}

/** For what creates a task. */
export interface CreateOptions extends TurnOptions {
  /** W3C trace context of whoever asks: the task's span becomes a child of it. A repeat may bring another one. */
  readonly traceparent?: string
}

export interface SpawnOptions extends CreateOptions {
  /** The same key and request give the same task, whenever they come; the same key and another request are refused. */
  readonly idempotencyKey?: string
  readonly parent?: string
  /** Whether a cancel of what is above reaches it. */
  readonly propagate?: 'cascade' | 'isolate'
  readonly group?: string | GroupHandle
  /** Own bounds, within those of the session. */
  readonly limits?: OwnLimits
}

interface EndOptions extends CommandOptions {
  readonly cancel?: boolean
  readonly reason?: string
}

/** A handle on one session: commands, which its mailbox carries out one after the other, and reads. Holds nothing itself. */
export class Session {
  readonly scope: Scope
  /** Notes that outlive turns. */
  readonly memory: SessionMemory
  readonly #services: Services
  readonly #reach: Reach
  readonly #reads: SessionReads

  constructor(scope: Scope, services: Services, reach: Reach) {
    this.scope = scope
    this.#services = services
    this.#reach = reach
    this.#reads = new SessionReads(scope, services, reach)
    const { tasks, groups, queue, pauses, calls, messages, log, state, request, checkpoint, ledger, patch } =
      this.#reads
    this.memory = new SessionMemory(
      { services, scope, look: (look) => lookAtWorld(services, scope, reach, look) },
      (name, body, commandId) => this.#submit(name, body, commandId),
    )
    Object.assign(this, {
      tasks,
      groups,
      queue,
      pauses,
      calls,
      messages,
      log,
      state,
      request,
      checkpoint,
      ledger,
      patch,
    })
  }

  declare readonly tasks: SessionReads['tasks']
  declare readonly groups: SessionReads['groups']
  declare readonly queue: SessionReads['queue']
  declare readonly pauses: SessionReads['pauses']
  declare readonly calls: SessionReads['calls']
  declare readonly messages: SessionReads['messages']
  declare readonly log: SessionReads['log']
  declare readonly state: SessionReads['state']
  declare readonly request: SessionReads['request']
  declare readonly patch: SessionReads['patch']
  declare readonly checkpoint: SessionReads['checkpoint']
  declare readonly ledger: SessionReads['ledger']

  start(input: Input, options: CreateOptions = {}): Promise<TaskHandle> {
    return this.#create('start', input, options)
  }

  async followUp(input: Input, options: CreateOptions & { requires?: 'none' | 'success' } = {}): Promise<TaskHandle> {
    return this.#create('followUp', input, { requires: 'none', ...givenOptions(options) } as TurnOptions)
  }

  supersede(input: Input, options: CreateOptions & { task?: string } = {}): Promise<TaskHandle> {
    return this.#create('supersede', input, options)
  }

  /** Work beside the turn: it sees its input alone, and starts at once. */
  async spawn(input: Input, options: SpawnOptions = {}): Promise<TaskHandle> {
    const { group, ...more } = givenOptions(options)
    const joins = group === undefined ? {} : { group: givenId('group', group) }
    return this.#create('spawn', input, { propagate: 'cascade', ...more, ...joins } as TurnOptions)
  }

  /** A new group for background tasks; with `failFast` the first failure cancels the others. */
  async group(options: CommandOptions & { failFast?: boolean } = {}): Promise<GroupHandle> {
    const { commandId, failFast = false, ...more } = givenOptions(options)
    const receipt = await this.#submit('createGroup', { failFast, ...more }, commandId)
    return this.groupOf(receipt.group ?? '')
  }

  /** A handle on a group that was made before. */
  groupOf(group: string): GroupHandle {
    return new GroupHandle(group, {
      seal: (options) => this.#submit('sealGroup', { group }, options.commandId),
      cancel: (options) => this.#submit('cancelGroup', { group }, options.commandId),
      outcome: () => this.#reads.groupOutcome(group),
    })
  }

  /** Waits for tasks, or for all that a group has once it is over; at the deadline for as much as there is. */
  async await(
    awaited: readonly (string | TaskHandle)[] | GroupHandle,
    options: { deadline?: string } = {},
  ): Promise<Joined> {
    const reads = this.#reads
    const { deadline } = givenOptions(options)
    if (!Array.isArray(awaited)) return reads.awaitGroup(givenId('group', awaited as GroupHandle), deadline)
    const tasks = awaited.map((task) => givenId('tasks', task))
    return awaitTasks(this.#services.host, { tasks, outcome: reads.outcome }, deadline)
  }

  async steer(
    input: Input,
    options: CommandOptions & { task?: string; mode?: 'boundary' | 'interrupt' } = {},
  ): Promise<Receipt> {
    const { commandId, ...more } = givenOptions(options)
    return this.#submit('steer', { input: textOf(input), mode: 'boundary', ...more }, commandId)
  }

  async cancel(
    options: CommandOptions & { task?: string; reason?: string; steering?: SteeringFate } = {},
  ): Promise<Receipt> {
    const { commandId, ...more } = givenOptions(options)
    const body = { reason: 'cancelled by the operator', steering: 'inherit', ...more }
    return this.#submit('cancel', body, commandId)
  }

  /** Nothing of the task starts any more until it is resumed; what is under way ends by itself. */
  async pause(options: CommandOptions & { task?: string } = {}): Promise<Receipt> {
    const { commandId, ...more } = givenOptions(options)
    return this.#submit('pause', more, commandId)
  }

  async resume(
    token: string,
    answer: CommandOptions & { decision: 'approve' | 'reject' | 'resume' | 'timeout'; input?: Json },
  ): Promise<Receipt> {
    const { commandId, ...more } = givenOptions(answer)
    return this.#submit('resume', { token, ...more }, commandId)
  }

  /** Short for the `resume` of a confirmation; a pause that asks for something else is not settled by it. */
  async confirm(confirmation: string, decision: 'allow' | 'deny', options: CommandOptions = {}): Promise<Receipt> {
    const decided = { allow: 'approve', deny: 'reject' }[decision]
    const body = { token: confirmation, decision: decided, confirms: true }
    return this.#submit('resume', body, givenOptions(options).commandId)
  }

  async unblock(task: string, options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('unblock', { task }, givenOptions(options).commandId)
  }

  async replace(task: string, input: Input, options: TurnOptions = {}): Promise<Receipt> {
    const { commandId, ...more } = givenOptions(options)
    return this.#submit('replace', { input: textOf(input), task, ...more }, commandId)
  }

  /** Takes authority from a task that has not ended; it is never given back. */
  async reduceGrant(task: string, id: string, grant: Grant, options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('reduceGrant', { task, id, grant }, givenOptions(options).commandId)
  }

  async acknowledge(calls: readonly string[] | 'all', options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('acknowledge', { calls }, givenOptions(options).commandId)
  }

  async close(options: EndOptions = {}): Promise<Receipt> {
    const { commandId, ...more } = givenOptions(options)
    return this.#submit('close', { cancel: false, ...more }, commandId)
  }

  /** Final: content, key, inbox and snapshots go; the facts stay, and say nothing any more. */
  async erase(options: EndOptions = {}): Promise<Receipt> {
    const { commandId, ...more } = givenOptions(options)
    return this.#submit('erase', { cancel: false, ...more }, commandId)
  }

  async reopen(options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('reopen', {}, givenOptions(options).commandId)
  }

  /** The session as an XState actor, with its living tasks as children: it shows what is committed and takes commands. */
  get actor(): SessionActorRef {
    return this.#reach.actors().actor
  }

  task(id: string): TaskHandle {
    return new TaskHandle(id, null, this.#reads)
  }

  async #create(name: CommandName, input: Input, options: TurnOptions): Promise<TaskHandle> {
    const { commandId, ...more } = givenOptions(options)
    const receipt = await this.#submit(name, { input: textOf(input), ...more }, commandId)
    return new TaskHandle(receipt.task ?? '', receipt, this.#reads)
  }

  async #submit(name: CommandName, body: object, commandId: string | undefined): Promise<Receipt> {
    const { host } = this.#services
    // Read before anything is waited for: a host may change its objects once it has called.
    const checked = checkBody(name, body)
    while (host.fair.spent) await host.fair.turn()
    const request = operatorRequest(host, this.scope, { name, body: checked, commandId })
    return this.#reach.live().submit(request)
  }
}
