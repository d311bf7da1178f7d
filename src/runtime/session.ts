import type { Grant, Json, JsonObject, SteeringFate } from '../../machines/vocabulary.ts'
import type { Scope } from '../facts/scope.ts'
import type { SessionActorRef } from './actors/actor-refs.ts'
import type { Receipt } from './command.ts'
import type { CommandName } from './command-bodies.ts'
import { type Input, textOf } from './input.ts'
import { lookAtWorld } from './look-at-world.ts'
import { operatorRequest } from './operator-requests.ts'
import type { Reach } from './reach.ts'
import type { Services } from './services.ts'
import { SessionMemory } from './session-memory.ts'
import { SessionReads } from './session-reads.ts'
import { TaskHandle } from './task-handle.ts'

export interface CommandOptions {
  /** A repeat with the same id and body returns the first receipt; with another body it is refused. */
  readonly commandId?: string
}

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
    const { tasks, queue, pauses, calls, messages, log, state, request, checkpoint, ledger, patch } = this.#reads
    this.memory = new SessionMemory(
      { services, scope, look: (look) => lookAtWorld(services, scope, reach, look) },
      (name, body, commandId) => this.#submit(name, body, commandId),
    )
    Object.assign(this, { tasks, queue, pauses, calls, messages, log, state, request, checkpoint, ledger, patch })
  }

  declare readonly tasks: SessionReads['tasks']
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

  followUp(input: Input, options: CreateOptions & { requires?: 'none' | 'success' } = {}): Promise<TaskHandle> {
    return this.#create('followUp', input, { requires: 'none', ...options })
  }

  supersede(input: Input, options: CreateOptions & { task?: string } = {}): Promise<TaskHandle> {
    return this.#create('supersede', input, options)
  }

  async steer(
    input: Input,
    options: CommandOptions & { task?: string; mode?: 'boundary' | 'interrupt' } = {},
  ): Promise<Receipt> {
    const { commandId, ...more } = options
    return this.#submit('steer', { input: textOf(input), mode: 'boundary', ...more }, commandId)
  }

  cancel(options: CommandOptions & { task?: string; reason?: string; steering?: SteeringFate } = {}): Promise<Receipt> {
    const { commandId, ...more } = options
    const body = { reason: 'cancelled by the operator', steering: 'inherit', ...more }
    return this.#submit('cancel', body, commandId)
  }

  /** Nothing of the task starts any more until it is resumed; what is under way ends by itself. */
  pause(options: CommandOptions & { task?: string } = {}): Promise<Receipt> {
    const { commandId, ...more } = options
    return this.#submit('pause', more, commandId)
  }

  resume(
    token: string,
    answer: CommandOptions & { decision: 'approve' | 'reject' | 'resume' | 'timeout'; input?: Json },
  ): Promise<Receipt> {
    const { commandId, ...more } = answer
    return this.#submit('resume', { token, ...more }, commandId)
  }

  /** Short for the `resume` of a confirmation; a pause that asks for something else is not settled by it. */
  confirm(confirmation: string, decision: 'allow' | 'deny', options: CommandOptions = {}): Promise<Receipt> {
    const decided = { allow: 'approve', deny: 'reject' }[decision]
    const body = { token: confirmation, decision: decided, confirms: true }
    return this.#submit('resume', body, options.commandId)
  }

  unblock(task: string, options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('unblock', { task }, options.commandId)
  }

  async replace(task: string, input: Input, options: TurnOptions = {}): Promise<Receipt> {
    const { commandId, ...more } = options
    return this.#submit('replace', { input: textOf(input), task, ...more }, commandId)
  }

  /** Takes authority from a task that has not ended; it is never given back. */
  reduceGrant(task: string, id: string, grant: Grant, options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('reduceGrant', { task, id, grant }, options.commandId)
  }

  acknowledge(calls: readonly string[] | 'all', options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('acknowledge', { calls }, options.commandId)
  }

  close(options: EndOptions = {}): Promise<Receipt> {
    const { commandId, ...more } = options
    return this.#submit('close', { cancel: false, ...more }, commandId)
  }

  /** Final: content, key, inbox and snapshots go; the facts stay, and say nothing any more. */
  erase(options: EndOptions = {}): Promise<Receipt> {
    const { commandId, ...more } = options
    return this.#submit('erase', { cancel: false, ...more }, commandId)
  }

  reopen(options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit('reopen', {}, options.commandId)
  }

  /** The session as an XState actor, with its living tasks as children: it shows what is committed and takes commands. */
  get actor(): SessionActorRef {
    return this.#reach.actors().actor
  }

  task(id: string): TaskHandle {
    return new TaskHandle(id, null, this.#reads)
  }

  async #create(name: CommandName, input: Input, options: TurnOptions): Promise<TaskHandle> {
    const { commandId, ...more } = options
    const receipt = await this.#submit(name, { input: textOf(input), ...more }, commandId)
    return new TaskHandle(receipt.task ?? '', receipt, this.#reads)
  }

  async #submit(name: CommandName, body: object, commandId: string | undefined): Promise<Receipt> {
    const request = operatorRequest(this.#services.host, this.scope, { name, body, commandId })
    return this.#reach.live().submit(request)
  }
}
