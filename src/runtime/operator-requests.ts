import type { OperatorCommand, TaskRequest } from '../../machines/commands.ts'
import { LandfallError } from '../facts/errors.ts'
import { checkId } from '../facts/ids.ts'
import type { Scope } from '../facts/scope.ts'
import { askedSkills, checkSkills } from './asked-skills.ts'
import type { OperatorRequest } from './command.ts'
import { type CommandBody, type CommandName, comparable } from './command-bodies.ts'
import { freeText } from './free-text.ts'
import { hold } from './held-content.ts'
import { boundedText } from './input.ts'
import { checkedKey, noteBody } from './memory-note.ts'
import type { Host } from './options.ts'
import { checkToken, newToken } from './pause-token.ts'
import { sharedSystem } from './shared-system.ts'
import { spawnRequest } from './spawn-request.ts'
import type { Step } from './step.ts'
import { checkName, checkSettings } from './turn-settings.ts'

type TurnName = 'start' | 'followUp' | 'supersede' | 'replace'

/** Commands that open a session which was never opened. */
const opening: ReadonlySet<CommandName> = new Set<CommandName>([
  'start',
  'followUp',
  'supersede',
  'spawn',
  'createGroup',
  'memoryPut',
])

/** A command as the mailbox takes it, of a body that was checked. Everything else that can be checked without the session is checked here. */
export function operatorRequest<N extends CommandName>(
  host: Host,
  scope: Scope,
  command: { name: N; body: CommandBody<N>; commandId?: string | undefined },
): OperatorRequest {
  const { name, body } = command
  checkContent(host, body)
  if ('idempotencyKey' in body && body.idempotencyKey !== undefined)
    checkKey(host, 'idempotency key', body.idempotencyKey)
  if ('token' in body) checkToken(scope, body.token)
  const commandId = command.commandId === undefined ? null : checkCommandId(host, command.commandId)
  return {
    name,
    by: { kind: 'operator', id: scope.user },
    commandId,
    body,
    opens: opening.has(name),
    build: (step) => builders[name](step, body as never),
  }
}

function checkContent(host: Host, body: CommandBody<CommandName>): void {
  const { steeringBytes, contentBytes } = host.limits
  if ('input' in body && typeof body.input === 'string') {
    if ('mode' in body) boundedText(body.input, 'steeringBytes', steeringBytes)
    else boundedText(body.input, 'contentBytes', contentBytes)
  }
  if ('key' in body) checkedKey(host.limits, body.key)
  if ('value' in body) noteBody(host.limits, body.value)
  if ('settings' in body && body.settings !== undefined) checkSettings(body.settings, host.redactor)
  const granted = 'grants' in body ? Object.keys(body.grants ?? {}) : 'grant' in body ? [body.id] : []
  for (const id of granted) checkName(id, 'grants', host.redactor)
  if ('skills' in body && body.skills !== undefined) checkSkills(host.catalog, body.skills)
  if (!('model' in body) || typeof body.model !== 'string' || host.models.has(body.model)) return
  throw new LandfallError('INVALID_INPUT', 'No model has this name. Use one that openRuntime was given.', {
    details: { field: 'model', known: [...host.models.keys()] },
  })
}

export function checkCommandId(host: Host, given: string): string {
  return checkKey(host, 'command id', given)
}

/** An id that the redactor would alter holds what must not be stored, and could not be found again. */
function checkKey(host: Host, what: 'command id' | 'idempotency key', given: string): string {
  const isCommand = what === 'command id'
  const id = checkId(isCommand ? 'command' : 'key', given)
  if (freeText(host.redactor, id) !== id)
    throw new LandfallError('INVALID_INPUT', `The ${what} looks like a credential. Choose another one.`, {
      details: { field: isCommand ? 'commandId' : 'idempotencyKey' },
    })
  return id
}

const builders: { readonly [N in CommandName]: (step: Step, body: CommandBody<N>) => OperatorCommand } = {
  start: (step, body) => ({ name: 'start', request: taskRequest(step, body) }),
  followUp: (step, body) => ({ name: 'followUp', request: taskRequest(step, body), requires: body.requires }),
  supersede: (step, body) => ({ name: 'supersede', request: taskRequest(step, body), ...target(body) }),
  spawn: (step, body) => {
    const { idempotencyKey, traceparent, ...asked } = body
    const { parent, propagate, group } = asked
    const { text, skills } = askedSkills(step.base.host.catalog, body.input, body.skills ?? [])
    return {
      name: 'spawn',
      request: {
        ...spawnRequest(step, { ...asked, input: text, skills }),
        request: step.digest(asked),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      propagate,
      ...(parent === undefined ? {} : { parent }),
      ...(group === undefined ? {} : { group }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }
  },
  createGroup: (step, body) => ({ name: 'createGroup', group: step.newId(), failFast: body.failFast }),
  sealGroup: (_, body) => ({ name: 'sealGroup', group: body.group }),
  cancelGroup: (_, body) => ({ name: 'cancelGroup', group: body.group }),
  steer: (step, body) => {
    const message = step.newId()
    hold(step, step.base.bodies.steering, message, body.input)
    return { name: 'steer', message, ...step.put(body.input), mode: body.mode, ...target(body) }
  },
  cancel: (step, body) => {
    const reason = freeText(step.base.host.redactor, body.reason)
    return { name: 'cancel', reason, steering: body.steering, ...target(body) }
  },
  unblock: (_, body) => ({ name: 'unblock', task: body.task }),
  replace: (step, body) => {
    const { task, ...request } = taskRequest(step, body, body.task)
    return { name: 'replace', task, request }
  },
  reduceGrant: (_, body) => ({ name: 'reduceGrant', task: body.task, id: body.id, grant: body.grant }),
  acknowledge: (_, body) => ({ name: 'acknowledge', calls: body.calls }),
  close: (step, body) => ({ name: 'close', cancel: body.cancel, ...reasonOf(step, body.reason) }),
  erase: (step, body) => ({ name: 'erase', cancel: body.cancel, ...reasonOf(step, body.reason) }),
  memoryPut: (step, body) => ({
    name: 'memoryPut',
    ...notePut(step, body.key, noteBody(step.base.host.limits, body.value)),
  }),
  memoryRemove: (step, body) => ({ name: 'memoryRemove', key: step.digest(body.key) }),
  reopen: () => ({ name: 'reopen' }),
  pause: (step, body) => ({ name: 'pause', token: newToken(step), ...target(body) }),
  resume: (step, body) => {
    const { token, decision, input } = body
    return {
      name: 'resume',
      token,
      decision,
      ...(body.confirms === true ? { confirms: true } : {}),
      ...(input === undefined ? {} : { input: answerOf(step, token, input) }),
    }
  },
}

function target(body: { task?: string | undefined }): { task?: string } {
  return body.task === undefined ? {} : { task: body.task }
}

function reasonOf(step: Step, reason: string | undefined): { reason?: string } {
  return reason === undefined ? {} : { reason: freeText(step.base.host.redactor, reason) }
}

/** A note for this step to put: its key and value as content, the value in memory too. */
export function notePut(step: Step, key: string, value: string): { key: string; digest: string; bytes: number } {
  const { digest } = step.put(key)
  hold(step, step.base.bodies.memory, digest, value)
  return { key: digest, ...step.put(value) }
}

function answerOf(step: Step, token: string, input: unknown): string {
  const text = JSON.stringify(input)
  hold(step, step.base.bodies.answers, token, text)
  return step.put(text).digest
}

function taskRequest(step: Step, body: CommandBody<TurnName>, replaced?: string): TaskRequest {
  const { model, settings, grants, system } = body
  const task = replaced ?? step.newId()
  const { text: input, skills } = askedSkills(step.base.host.catalog, body.input, body.skills ?? [])
  hold(step, step.base.bodies.inputs, task, input)
  const { digest, bytes } = step.put(input)
  return {
    task,
    input: digest,
    bytes,
    request: step.digest(comparable(body)),
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system: sharedSystem(step, system) }),
    ...(settings === undefined ? {} : { settings }),
    ...(grants === undefined ? {} : { grants }),
    ...(skills.length === 0 ? {} : { skills }),
    ...('traceparent' in body && body.traceparent !== undefined ? { traceparent: body.traceparent } : {}),
  }
}
