import type { SteeringFate } from '../../machines/vocabulary.ts'
import { LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import type { OperatorRequest, Receipt } from './command.ts'
import type { Input } from './input.ts'
import type { Reach } from './reach.ts'
import { type CommandOptions, OperatorRequests, type TurnOptions } from './requests-of-operators.ts'
import type { Services } from './services.ts'
import { SessionReads } from './session-reads.ts'
import { TaskHandle } from './task-handle.ts'

/** A handle on one session: commands, which its mailbox carries out one after the other, and reads. Holds nothing itself. */
export class Session {
  readonly scope: Scope
  readonly #reach: Reach
  readonly #requests: OperatorRequests
  readonly #reads: SessionReads

  constructor(scope: Scope, services: Services, reach: Reach) {
    this.scope = scope
    this.#reach = reach
    this.#requests = new OperatorRequests(services.host, scope.user)
    this.#reads = new SessionReads(scope, services, reach)
  }

  start(input: Input, options: TurnOptions = {}): Promise<TaskHandle> {
    const given = { input, options, more: {} }
    return this.#create(this.#requests.turn('start', given, (request) => ({ name: 'start', request })))
  }

  followUp(input: Input, options: TurnOptions & { requires?: 'none' | 'success' } = {}): Promise<TaskHandle> {
    const { requires = 'none', ...rest } = options
    if (requires !== 'none' && requires !== 'success') throw invalid('requires', 'is "none" or "success"')
    const given = { input, options: rest, more: { requires } }
    return this.#create(this.#requests.turn('followUp', given, (request) => ({ name: 'followUp', request, requires })))
  }

  supersede(input: Input, options: TurnOptions & { task?: string } = {}): Promise<TaskHandle> {
    const { task, ...rest } = options
    const target = task === undefined ? {} : { task }
    const given = { input, options: rest, more: target }
    return this.#create(
      this.#requests.turn('supersede', given, (request) => ({ name: 'supersede', request, ...target })),
    )
  }

  steer(
    input: Input,
    options: CommandOptions & { task?: string; mode?: 'boundary' | 'interrupt' } = {},
  ): Promise<Receipt> {
    const { task, mode = 'boundary' } = options
    if (mode !== 'boundary' && mode !== 'interrupt') throw invalid('mode', 'is "boundary" or "interrupt"')
    return this.#submit(this.#requests.steer({ input, task, mode, options }))
  }

  cancel(options: CommandOptions & { task?: string; reason?: string; steering?: SteeringFate } = {}): Promise<Receipt> {
    const { task, steering = 'inherit' } = options
    const reason = this.#requests.reason(options.reason, 'cancelled by the operator')
    const target = task === undefined ? {} : { task }
    const body = { reason, steering, ...target }
    return this.#submit(
      this.#requests.plain('cancel', { options, body }, () => ({ name: 'cancel', reason, steering, ...target })),
    )
  }

  unblock(task: string, options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit(this.#requests.plain('unblock', { options, body: { task } }, () => ({ name: 'unblock', task })))
  }

  replace(task: string, input: Input, options: TurnOptions = {}): Promise<Receipt> {
    return this.#submit(this.#requests.replace(task, input, options))
  }

  acknowledge(calls: readonly string[] | 'all', options: CommandOptions = {}): Promise<Receipt> {
    const given = { options, body: { calls } }
    return this.#submit(this.#requests.plain('acknowledge', given, () => ({ name: 'acknowledge', calls })))
  }

  close(options: CommandOptions & { cancel?: boolean; reason?: string } = {}): Promise<Receipt> {
    return this.#end('close', options)
  }

  erase(options: CommandOptions & { cancel?: boolean; reason?: string } = {}): Promise<Receipt> {
    return this.#end('erase', options)
  }

  reopen(options: CommandOptions = {}): Promise<Receipt> {
    return this.#submit(this.#requests.plain('reopen', { options, body: {} }, () => ({ name: 'reopen' })))
  }

  task(id: string): TaskHandle {
    return new TaskHandle(id, null, this.#reads)
  }

  get tasks(): SessionReads['tasks'] {
    return this.#reads.tasks
  }

  get queue(): SessionReads['queue'] {
    return this.#reads.queue
  }

  get calls(): SessionReads['calls'] {
    return this.#reads.calls
  }

  get messages(): SessionReads['messages'] {
    return this.#reads.messages
  }

  get log(): SessionReads['log'] {
    return this.#reads.log
  }

  get state(): SessionReads['state'] {
    return this.#reads.state
  }

  get request(): SessionReads['request'] {
    return this.#reads.request
  }

  #end(name: 'close' | 'erase', options: CommandOptions & { cancel?: boolean; reason?: string }): Promise<Receipt> {
    const { cancel = false } = options
    const reason = options.reason === undefined ? {} : { reason: this.#requests.reason(options.reason, '') }
    return this.#submit(
      this.#requests.plain(name, { options, body: { cancel, ...reason } }, () => ({ name, cancel, ...reason })),
    )
  }

  #submit(request: OperatorRequest): Promise<Receipt> {
    return this.#reach.live().submit(request)
  }

  async #create(request: OperatorRequest): Promise<TaskHandle> {
    const receipt = await this.#submit(request)
    return new TaskHandle(receipt.task ?? '', receipt, this.#reads)
  }
}

function invalid(field: string, why: string): LandfallError {
  return new LandfallError('INVALID_INPUT', `${field} ${why}.`, { details: { field } })
}
