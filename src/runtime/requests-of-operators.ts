import type { OperatorCommand, TaskRequest } from '../../machines/commands.ts'
import type { Grant, JsonObject } from '../../machines/vocabulary.ts'
import { LandfallError } from '../facts/errors.ts'
import { checkId } from '../facts/ids.ts'
import type { OperatorRequest } from './command.ts'
import { freeText } from './free-text.ts'
import { type Input, textOf } from './input.ts'
import type { Host } from './options.ts'
import type { Step } from './step.ts'

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

type Build = (step: Step) => OperatorCommand

/** Turns what a host calls into requests for the mailbox; everything that can be checked without the session is checked here. */
export class OperatorRequests {
  readonly #host: Host
  readonly #user: string

  constructor(host: Host, user: string) {
    this.#host = host
    this.#user = user
  }

  turn(
    name: 'start' | 'followUp' | 'supersede' | 'spawn',
    given: { input: Input; options: TurnOptions; more: object },
    build: (request: TaskRequest) => OperatorCommand,
  ): OperatorRequest {
    const { input, options, more } = given
    const text = textOf(input)
    const { commandId: _id, ...settings } = options
    this.#checkModel(options.model)
    const body = { input: text, ...settings, ...more }
    const create = (step: Step) => build(taskRequest(step, text, { body, options }))
    return this.#request({ name, options, body, opens: true }, create)
  }

  replace(task: string, input: Input, options: TurnOptions): OperatorRequest {
    const text = textOf(input)
    this.#checkModel(options.model)
    const body = { input: text, task }
    return this.plain('replace', { options, body }, (step) => {
      const { task: made, skills: _skills, ...request } = taskRequest(step, text, { body, options })
      step.base.bodies.inputs.delete(made)
      hold(step, step.base.bodies.inputs, task, text)
      return { name: 'replace', task, request }
    })
  }

  steer(given: {
    input: Input
    task: string | undefined
    mode: 'boundary' | 'interrupt'
    options: CommandOptions
  }): OperatorRequest {
    const { task, mode, options } = given
    const text = textOf(given.input, this.#host.limits.steeringBytes)
    const target = task === undefined ? {} : { task }
    return this.plain('steer', { options, body: { input: text, mode, ...target } }, (step) => {
      const message = step.newId()
      const { digest, bytes } = step.put(text)
      hold(step, step.base.bodies.steering, message, text)
      return { name: 'steer', message, digest, bytes, mode, ...target }
    })
  }

  plain(
    name: OperatorCommand['name'],
    given: { options: CommandOptions; body: object },
    build: Build,
  ): OperatorRequest {
    return this.#request({ name, ...given, opens: false }, build)
  }

  reason(text: string | undefined, otherwise: string): string {
    return text === undefined ? otherwise : freeText(this.#host.redactor, text)
  }

  #request(
    of: { name: OperatorCommand['name']; options: CommandOptions; body: object; opens: boolean },
    build: Build,
  ): OperatorRequest {
    const { name, options, body, opens } = of
    const commandId = options.commandId === undefined ? null : this.#commandId(options.commandId)
    return { name, by: { kind: 'operator', id: this.#user }, commandId, body, opens, build }
  }

  /** An id that the redactor would alter holds what must not be stored, and could not be found again. */
  #commandId(given: string): string {
    const id = checkId('command', given)
    if (freeText(this.#host.redactor, id) !== id)
      throw new LandfallError('INVALID_INPUT', 'The command id looks like a credential. Choose another one.', {
        details: { field: 'commandId' },
      })
    return id
  }

  #checkModel(name: string | undefined): void {
    if (name === undefined || this.#host.models.has(name)) return
    throw new LandfallError('INVALID_INPUT', 'No model has this name. Use one that openRuntime was given.', {
      details: { field: 'model', known: [...this.#host.models.keys()] },
    })
  }
}

function taskRequest(step: Step, text: string, given: { body: object; options: TurnOptions }): TaskRequest {
  const { model, settings, grants, skills, system } = given.options
  const task = step.newId()
  const { digest, bytes } = step.put(text)
  hold(step, step.base.bodies.inputs, task, text)
  return {
    task,
    input: digest,
    bytes,
    request: step.digest(given.body),
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system: sharedSystem(step, system) }),
    ...(settings === undefined ? {} : { settings }),
    ...(grants === undefined ? {} : { grants }),
    ...(skills === undefined ? {} : { skills }),
  }
}

/** Content of a command in memory, until it is refused. */
function hold(step: Step, where: Map<string, string>, id: string, text: string): void {
  const before = where.get(id)
  where.set(id, text)
  step.undo.push(() => {
    if (before === undefined) where.delete(id)
    else where.set(id, before)
  })
}

function sharedSystem(step: Step, system: string): string {
  const digest = step.digest(system)
  step.shared.set(digest, { digest, body: system })
  step.base.bodies.systems.set(digest, system)
  return digest
}
