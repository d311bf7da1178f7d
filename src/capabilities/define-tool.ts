import {
  type CallId,
  type Confirm,
  type Decision,
  type Effect,
  isPlannerTool,
  type Json,
  type MemoryScope,
  type PauseReason,
  type TaskId,
  type Time,
} from '../../machines/vocabulary.ts'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import type { Scope } from '../facts/scope.ts'
import type { Origin } from './origin.ts'
import {
  checkArguments,
  isToolSchema,
  jsonSchemaOf,
  type OutputOf,
  type ToolSchema,
  validateArguments,
} from './tool-schema.ts'

/** Notes of the session. A read names its memory, the session's own by default; only an operator promotes a note. */
export interface ToolMemory {
  get(key: string, scope?: MemoryScope): Promise<Json | undefined>
  put(key: string, value: Json): Promise<void>
}

export interface PauseRequest {
  readonly reason: Exclude<PauseReason, 'operator' | 'acknowledgement'>
  readonly subject?: string
  readonly deadline?: Time
}

export interface ToolProgress {
  /** From 0 to 1. */
  readonly fraction: number
  readonly phase?: string
  readonly note?: string
}

export interface Resumed {
  readonly decision: Decision
  readonly input?: Json
}

/** What a call may know and ask while it runs. */
export interface ToolContext {
  readonly signal: AbortSignal
  readonly callId: CallId
  readonly taskId: TaskId
  readonly scope: Scope
  /** The same in every attempt of a call; give it to whoever performs the effect. */
  readonly idempotencyKey: string
  readonly attempt: number
  /** The call's place in its trace, for whoever performs the effect (W3C trace context). */
  readonly traceparent?: string
  /** For whoever looks on. A fraction is kept with a background task, the newest of a while. */
  progress(progress: string | ToolProgress): void
  /** Ends this attempt before its effect. The call starts again, with `resumed`, when it is answered. */
  pause(request: PauseRequest): Promise<never>
  readonly resumed?: Resumed
  readonly memory: ToolMemory
}

export type VerifyContext = Pick<ToolContext, 'signal' | 'callId' | 'taskId' | 'scope' | 'idempotencyKey'>

/** What `defineTool` takes. `subject` names what a call is about, for the policy and for whoever approves it. */
export interface ToolOptions<Input extends ToolSchema, Result = unknown> {
  readonly name: string
  readonly description: string
  readonly tags?: readonly string[]
  readonly input: Input
  readonly output?: ToolSchema
  /** Absent: `mutate`. */
  readonly effect?: Effect
  readonly confirm?: Confirm
  readonly load?: 'start' | 'demand'
  readonly timeoutMs?: number
  /** Of a provider's tool; absent: the host's own. */
  readonly origin?: Origin
  readonly subject?: (args: OutputOf<Input>) => string
  readonly run: (args: OutputOf<Input>, context: ToolContext) => Result | Promise<Result>
  readonly cancel?: (callId: CallId) => Promise<'acknowledged' | 'unknown'>
  readonly verify?: (args: OutputOf<Input>, context: VerifyContext) => Promise<'succeeded' | 'failed' | 'unknown'>
}

/**
 * A tool as the catalog holds it: every default filled in. Its functions take the arguments as the model gave them, and put
 * them through the schema themselves; they reject with `INVALID_ARGUMENTS` when these do not fit.
 */
export interface ToolDefinition {
  readonly kind: 'tool'
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly input: ToolSchema
  readonly output?: ToolSchema
  readonly effect: Effect
  readonly confirm: Confirm
  readonly load: 'start' | 'demand'
  readonly timeoutMs?: number
  readonly origin?: Origin
  subject?(args: unknown): string
  run(args: unknown, context: ToolContext): Promise<unknown>
  cancel?(callId: CallId): Promise<'acknowledged' | 'unknown'>
  verify?(args: unknown, context: VerifyContext): Promise<'succeeded' | 'failed' | 'unknown'>
}

/** What a tool promises, as plain JSON: the digest of this tells one version of a tool from another. */
export interface ToolContract {
  readonly input: Record<string, unknown>
  readonly output: Record<string, unknown> | null
  readonly effect: Effect
}

const lawfulName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

export function refuseDefinition(field: string, why: string): LandfallError {
  return new LandfallError('INVALID_INPUT', `The definition is refused: ${field} ${why}.`, { details: { field } })
}

/** A provider's tools have their id as their name, so that two providers never collide, nor one with the host. */
const providedName = /^[a-z]+:[A-Za-z0-9][A-Za-z0-9._-]*:[A-Za-z0-9._/-]+$/

interface Described {
  readonly name: string
  readonly description: string
  readonly tags?: readonly string[]
  readonly origin?: Origin
}

/** Rules that tools and skills share. */
export function checkDescribed(described: Described): void {
  if (typeof described !== 'object' || described === null) throw refuseDefinition('definition', 'must be an object')
  const { name, description, tags = [], origin } = described
  const lawful = origin?.id === name ? providedName : lawfulName
  if (typeof name !== 'string' || !lawful.test(name) || name.length > limits.idChars)
    throw refuseDefinition('name', `must be 1 to ${limits.idChars} letters, digits, dots, hyphens and underscores`)
  if (typeof description !== 'string' || description === '' || description.length > limits.descriptionChars)
    throw refuseDefinition('description', `must have 1 to ${limits.descriptionChars} characters`)
  if (
    !Array.isArray(tags) ||
    !tags.every((tag) => typeof tag === 'string' && tag !== '' && tag.length <= limits.idChars)
  )
    throw refuseDefinition('tags', 'must be words')
}

function checkChoice(field: string, value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value))
    throw refuseDefinition(field, `must be one of ${allowed.join(', ')}`)
}

type Unchecked = Omit<ToolOptions<ToolSchema>, 'run' | 'subject' | 'cancel' | 'verify'> & { readonly run: unknown }

function checkTool(options: Unchecked): void {
  checkDescribed(options)
  if (isPlannerTool(options.name)) throw refuseDefinition('name', 'is reserved for a tool of the planner')
  if (!isToolSchema(options.input))
    throw refuseDefinition('input', 'must be a Standard Schema with JSON Schema, such as one of zod')
  if (options.output !== undefined && !isToolSchema(options.output))
    throw refuseDefinition('output', 'must be such a schema too')
  checkChoice('effect', options.effect, ['read', 'idempotent', 'mutate'])
  checkChoice('confirm', options.confirm, ['none', 'once', 'each'])
  checkChoice('load', options.load, ['start', 'demand'])
  const { timeoutMs } = options
  if (timeoutMs !== undefined && !(Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= limits.deadlineMs))
    throw refuseDefinition('timeoutMs', 'must be a whole number of milliseconds, at least 1')
  if (typeof options.run !== 'function') throw refuseDefinition('run', 'must be a function')
  if (jsonSchemaOf(options.input).type !== 'object') throw refuseDefinition('input', 'must describe an object')
}

/** Checks a tool and fills in its defaults; an effect that nobody declared is taken to change something. */
export function defineTool<Input extends ToolSchema, Result>(options: ToolOptions<Input, Result>): ToolDefinition {
  checkTool(options)
  const { name, description, input, output, timeoutMs, origin, run, subject, cancel, verify } = options
  const args = (value: unknown): OutputOf<Input> => checkArguments(input, value)
  return Object.freeze({
    kind: 'tool',
    name,
    description,
    tags: Object.freeze([...(options.tags ?? [])]),
    input,
    effect: options.effect ?? 'mutate',
    confirm: options.confirm ?? 'none',
    load: options.load ?? 'start',
    run: async (value: unknown, context: ToolContext) => run(args(value), context),
    ...(output === undefined ? {} : { output }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(origin === undefined ? {} : { origin }),
    ...(subject === undefined ? {} : { subject: (value: unknown) => subject(args(value)) }),
    ...(cancel === undefined ? {} : { cancel }),
    ...(verify === undefined
      ? {}
      : { verify: async (value: unknown, context: VerifyContext) => verify(args(value), context) }),
  })
}

export function toolContract(tool: ToolDefinition): ToolContract {
  const output = tool.output === undefined ? null : jsonSchemaOf(tool.output)
  return { input: jsonSchemaOf(tool.input), output, effect: tool.effect }
}

/** Longest list of problems that a model is told of at once. */
const toldProblems = 5

/** Why the arguments do not fit, in words for the model, or null. */
export function argumentProblem(tool: ToolDefinition, value: unknown): string | null {
  const checked = validateArguments(tool.input, value)
  if (checked.ok) return null
  const told = checked.issues
    .slice(0, toldProblems)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const untold = checked.issues.length - told.length
  return `${told.join('; ')}${untold > 0 ? `; and ${untold} more` : ''}`
}
