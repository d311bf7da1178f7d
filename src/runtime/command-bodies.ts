import { z } from 'zod'
import type { Json, JsonObject } from '../../machines/vocabulary.ts'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { ownLimits } from '../facts/own-limits.ts'
import { traceparentForm } from '../facts/trace-context.ts'
import { isPlainJson } from './plain-json.ts'

const id = z.string().min(1).max(limits.idChars)
const text = z.string()
const grant = z.strictObject({
  level: z.enum(['none', 'discover', 'inspect', 'load', 'execute', 'activate']),
  confirm: z.enum(['none', 'once', 'each']),
})
/** Copied, so that nobody changes it afterwards, and with every name that it has: zod's own JSON passes `__proto__` over. */
const json = z.custom<Json>(isPlainJson).transform((value) => JSON.parse(JSON.stringify(value)) as Json)
const jsonObject = z
  .custom<JsonObject>(
    (value) => isPlainJson(value) && typeof value === 'object' && value !== null && !Array.isArray(value),
  )
  .transform((value) => JSON.parse(JSON.stringify(value)) as JsonObject)
/** zod's record passes `__proto__` over too: a grant that nobody would see is refused. */
const grants = z
  .custom<object>((value) => typeof value === 'object' && value !== null && !Object.hasOwn(value, '__proto__'))
  .pipe(z.record(z.string(), grant))
const turn = {
  input: text,
  model: z.string().optional(),
  system: z.string().optional(),
  settings: jsonObject.optional(),
  grants: grants.optional(),
  skills: z.array(z.string()).optional(),
}
/** For what creates a task: where in a trace the command came from. It is no part of what a repeat is compared with. */
const created = { ...turn, traceparent: z.string().regex(traceparentForm).optional() }
const ended = { cancel: z.boolean(), reason: z.string().optional() }

/** What an operator's command says, as plain data: this is what a repeat is compared with, and what another process is sent. */
export const commandBodies = {
  start: z.strictObject(created),
  followUp: z.strictObject({ ...created, requires: z.enum(['none', 'success']) }),
  supersede: z.strictObject({ ...created, task: id.optional() }),
  spawn: z.strictObject({
    ...created,
    idempotencyKey: z.string().optional(),
    parent: id.optional(),
    propagate: z.enum(['cascade', 'isolate']),
    group: id.optional(),
    limits: ownLimits.optional(),
  }),
  createGroup: z.strictObject({ failFast: z.boolean() }),
  sealGroup: z.strictObject({ group: id }),
  cancelGroup: z.strictObject({ group: id }),
  steer: z.strictObject({ input: text, mode: z.enum(['boundary', 'interrupt']), task: id.optional() }),
  cancel: z.strictObject({ reason: z.string(), steering: z.enum(['inherit', 'expire']), task: id.optional() }),
  unblock: z.strictObject({ task: id }),
  replace: z.strictObject({ ...turn, task: id }),
  reduceGrant: z.strictObject({ task: id, id: z.string().min(1).max(4_096), grant }),
  acknowledge: z.strictObject({ calls: z.union([z.literal('all'), z.array(id)]) }),
  close: z.strictObject(ended),
  erase: z.strictObject(ended),
  reopen: z.strictObject({}),
  memoryPut: z.strictObject({ key: text, value: json }),
  memoryRemove: z.strictObject({ key: text }),
  pause: z.strictObject({ task: id.optional() }),
  resume: z.strictObject({
    token: id,
    decision: z.enum(['approve', 'reject', 'resume', 'timeout']),
    confirms: z.literal(true).optional(),
    input: json.optional(),
  }),
} as const

export type CommandName = keyof typeof commandBodies
export type CommandBody<N extends CommandName> = z.infer<(typeof commandBodies)[N]>

/** The body as repeats are compared: whoever tries again does so in another place of another trace. */
export function comparable(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('traceparent' in body)) return body
  const { traceparent: _place, ...rest } = body
  return rest
}

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commandBodies, name)
}

/** The body, checked; the message names the place and holds nothing of what stood there. */
export function checkBody<N extends CommandName>(name: N, body: unknown): CommandBody<N> {
  const result = commandBodies[name].safeParse(body)
  if (result.success) return withoutEmpty(result.data as CommandBody<N>)
  const issue = result.error.issues[0]
  const field = issue?.path.join('.') ?? ''
  const place = field === '' ? '' : ` at '${field}'`
  // The word itself is whatever somebody typed, so those that there are are told.
  const what =
    issue?.code === 'unrecognized_keys'
      ? `has a word that it does not take${place}. ${field === '' ? `It takes ${wordsOf(name)}.` : 'Leave it out.'}`
      : `is malformed${place}. Correct it.`
  throw new LandfallError('INVALID_INPUT', `The command ${name} ${what}`, { details: { field } })
}

function wordsOf(name: CommandName): string {
  const words = Object.keys(commandBodies[name].shape)
  return words.length === 0 ? 'none' : words.join(', ')
}

/** An option that holds nothing says what its absence says: whoever sends the command again may do either. */
const mayBeEmpty: ReadonlySet<string> = new Set(['settings', 'grants', 'skills', 'limits'])

function withoutEmpty<T extends object>(body: T): T {
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !mayBeEmpty.has(name) || says(value))) as T
}

function says(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => each !== undefined)
}
