import { z } from 'zod'
import type { Json } from '../../../machines/vocabulary.ts'
import { limits } from '../limits.ts'

/** The parts that data objects are made of. Patterns only, no transforms: what is read is what was written. */
export const ulid = z.string().regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
export const ulids = z.array(ulid)
export const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
/** Keyed digest of raw content. */
export const digest = z.string().regex(/^hmac-sha256:[0-9a-f]{64}$/)
/** Digest of a contract, which is no secret. */
export const contract = z.string().regex(/^sha256:[0-9a-f]{64}$/)
export const chainHash = z.string().regex(/^[0-9a-f]{64}$/)

/** Ids and names from outside: bounded and printable. */
export const idText = z
  .string()
  .min(1)
  .max(limits.idChars)
  .refine((text) => !hasControl(text), 'control characters')

/** Names of models, capabilities, algorithms, codes, paths: short text that is not an id. */
export const nameText = z.string().min(1).max(4_096)

/** reason, title, note: redacted before they come here. */
export const freeText = z
  .string()
  .refine((text) => text.length <= limits.freeTextChars || [...text].length <= limits.freeTextChars, 'longer than 200')

export const count = z.int().min(0)
export const whole = z.int()
export const ratio = z.number().min(0).max(1)
export const flag = z.boolean()

export const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(json), z.record(z.string(), json)]),
)
export const jsonObject = z.record(z.string(), json)

export const usage = z.strictObject({
  input: count,
  output: count,
  total: count,
  cached: z.exactOptional(count),
  reasoning: z.exactOptional(count),
  estimated: z.exactOptional(z.literal(true)),
})

export const grant = z.strictObject({
  level: z.enum(['none', 'discover', 'inspect', 'load', 'execute', 'activate']),
  confirm: z.enum(['none', 'once', 'each']),
})
export const grants = z.record(z.string(), grant)

export const capabilityRef = z.strictObject({
  id: nameText,
  generation: count,
  contract,
  provider: nameText,
  binding: count,
})

export const numbers = z.record(z.string(), z.number())

export const sessionSettings = z.strictObject({
  model: nameText,
  system: digest.nullable(),
  limits: numbers,
  budget: z.strictObject({ tokens: count }).nullable(),
  context: z.strictObject({
    windowTokens: count,
    thresholdTokens: count,
    tailMessages: count,
    reserveTokens: count,
    evict: z.exactOptional(flag),
  }),
})

export const status = z.enum(['completed', 'failed', 'cancelled', 'superseded'])
export const outcome = z.enum(['succeeded', 'failed'])
export const purpose = z.enum(['turn', 'summary'])

export const awaitResult = z.strictObject({ task: ulid, status: status.nullable(), digest: digest.nullable() })

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text)
}
