import { z } from 'zod'
import type { Json, JsonObject } from '../../machines/vocabulary.ts'
import { limits } from '../facts/limits.ts'
import type { OwnLimits } from '../facts/own-limits.ts'

/*
 * Bodies of commands. They are strict: what is no part of a command, such as a tenant, is refused and not passed over, because
 * whoever sent it meant something by it.
 */
const id = z.string().min(1).max(limits.idChars)
const commandId = z.exactOptional(id)
const input = z.union([z.string(), z.array(z.strictObject({ type: z.literal('text'), text: z.string() }))])
const grant = z.strictObject({
  level: z.enum(['none', 'discover', 'inspect', 'load', 'execute', 'activate']),
  confirm: z.enum(['none', 'once', 'each']),
})
/** Bodies come out of a JSON text; these keep every name that stands there, as zod's own JSON does not: it passes `__proto__` over. */
const json = z.custom<Json>((value) => value !== undefined).meta({ description: 'Any JSON' })
const jsonObject = z.custom<JsonObject>(isRecord).meta({ type: 'object' })
/** A grant of something of that name would be passed over in the same way. */
const grants = z
  .custom<object>((value) => isRecord(value) && !Object.hasOwn(value, '__proto__'))
  .pipe(z.record(z.string(), grant))
const reason = z.exactOptional(z.string())
const bound = z.exactOptional(z.int().min(1))

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const turn = {
  input,
  model: z.exactOptional(z.string()),
  system: z.exactOptional(z.string()),
  settings: z.exactOptional(jsonObject),
  grants: z.exactOptional(grants),
  skills: z.exactOptional(z.array(z.string())),
}

/** Those of `ownLimits`, each there or not: the runtime knows how large they may be. */
const own = z.strictObject({
  turnMs: bound,
  stepsPerTurn: bound,
  callsPerTurn: bound,
  toolTranscriptBytesPerTurn: bound,
} satisfies { readonly [N in keyof OwnLimits]-?: z.ZodType })

const foreground = { kind: z.exactOptional(z.literal('foreground')), ...turn, commandId }

export const newTask = z
  .union([
    z.strictObject({ action: z.literal('start'), ...foreground }),
    z.strictObject({
      action: z.literal('follow_up'),
      ...foreground,
      requires: z.exactOptional(z.enum(['none', 'success'])),
    }),
    z.strictObject({ action: z.literal('supersede'), ...foreground, task: z.exactOptional(id) }),
    z.strictObject({
      kind: z.literal('background'),
      ...turn,
      parent: z.exactOptional(id),
      propagate: z.exactOptional(z.enum(['cascade', 'isolate'])),
      group: z.exactOptional(id),
      limits: z.exactOptional(own),
      commandId,
    }),
  ])
  .meta({ id: 'NewTask' })

export const steer = z
  .strictObject({ input, mode: z.exactOptional(z.enum(['boundary', 'interrupt'])), commandId })
  .meta({ id: 'Steer' })

export const cancel = z
  .strictObject({ reason, steering: z.exactOptional(z.enum(['inherit', 'expire'])), commandId })
  .meta({ id: 'Cancel' })

export const plain = z.strictObject({ commandId }).meta({ id: 'Plain' })

/** Without a token the one open pause of the task is meant. */
export const resume = z
  .strictObject({
    token: z.exactOptional(id),
    decision: z.exactOptional(z.enum(['approve', 'reject', 'resume', 'timeout'])),
    input: z.exactOptional(json),
    commandId,
  })
  .meta({ id: 'Resume' })

export const replace = z.strictObject({ ...turn, commandId }).meta({ id: 'Replace' })

export const confirm = z
  .strictObject({ decision: z.enum(['allow', 'deny']), confirmation: id, commandId })
  .meta({ id: 'Confirm' })

export const acknowledge = z
  .strictObject({ calls: z.union([z.literal('all'), z.array(id).min(1)]), commandId })
  .meta({ id: 'Acknowledge' })

export const close = z.strictObject({ cancel: z.exactOptional(z.boolean()), reason, commandId }).meta({ id: 'Close' })

export const reduceGrant = z
  .strictObject({ id: z.string().min(1).max(limits.pathChars), grant, commandId })
  .meta({ id: 'ReduceGrant' })

/** The key of a note is content as its value is, so both stand in a body and never in an address. */
const key = z.string()

export const putNote = z.strictObject({ key, value: json, commandId }).meta({ id: 'PutNote' })

export const removeNote = z
  .strictObject({ key, scope: z.exactOptional(z.enum(['session', 'user', 'tenant'])), commandId })
  .meta({ id: 'RemoveNote' })

export const promoteNote = z
  .strictObject({ key, to: z.enum(['user', 'tenant']), commandId })
  .meta({ id: 'PromoteNote' })

/** Parsed strictly by whoever restores it, with every name that it has. */
export const givenCheckpoint = z.custom<object>(isRecord).meta({ id: 'GivenCheckpoint', type: 'object' })
