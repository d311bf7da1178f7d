import { z } from 'zod'
import type { FactType } from '../../machines/facts.ts'
import { chainHash, count, idText, time, ulid } from './schemas/atoms.ts'
import { callSchemas } from './schemas/call.ts'
import { conversationSchemas } from './schemas/conversation.ts'
import { sessionSchemas } from './schemas/session.ts'
import { taskSchemas } from './schemas/task.ts'

/** The strict schema of each type's data. `test/facts/schemas.test.ts` proves both ways that they are the types of `machines/`. */
export const factSchemas = { ...sessionSchemas, ...taskSchemas, ...conversationSchemas, ...callSchemas }

/** Everything of a fact but `type` and `data`, in the order of the catalogue. */
const envelopeFields = {
  v: z.literal(1),
  id: ulid,
  cursor: z.int().min(1),
  seq: z.int().min(1),
  step: z.int().min(1),
  at: time,
  tenant: idText,
  user: idText,
  session: idText,
  task: ulid.nullable(),
  run: ulid.nullable(),
  call: ulid.nullable(),
  by: z.strictObject({ kind: z.enum(['operator', 'runtime', 'planner', 'capability']), id: idText }),
  cause: ulid.nullable(),
  command: idText.nullable(),
  owner: z.strictObject({ id: idText, epoch: count }),
  prev: chainHash,
  hash: chainHash,
}
const envelope = z.strictObject(envelopeFields)

export function isFactType(type: string): type is FactType {
  return Object.hasOwn(factSchemas, type)
}

/** What is wrong with a stored fact, named by path and never by value, or null. */
export function factProblem(fact: object): string | null {
  const { type, data, ...rest } = fact as { type?: unknown; data?: unknown }
  if (typeof type !== 'string' || !isFactType(type)) return 'type is not known'
  const schema: z.ZodType = factSchemas[type]
  return problem(envelope, rest, '') ?? problem(schema, data, 'data')
}

/** What is wrong with the data of a fact that is about to be written, or null. */
export function dataProblem(type: FactType, data: unknown): string | null {
  const schema: z.ZodType = factSchemas[type]
  return problem(schema, data, 'data')
}

function problem(schema: z.ZodType, value: unknown, at: string): string | null {
  const result = schema.safeParse(value)
  if (result.success) return null
  const issue = result.error.issues[0]
  const path = [at, ...(issue?.path ?? [])].filter((part) => part !== '').join('.')
  return `${path === '' ? 'fact' : path}: ${issue?.code ?? 'invalid'}`
}

/** The whole fact as one schema, for documents made from it such as OpenAPI. Discriminated by `type`, so parsing stays fast. */
export function factSchema() {
  const [first, ...others] = Object.entries(factSchemas).map(([type, data]) =>
    z.strictObject({ ...envelopeFields, type: z.literal(type), data }),
  )
  if (first === undefined) throw new RangeError('the catalogue is empty')
  return z.discriminatedUnion('type', [first, ...others])
}

export interface CatalogueEntry {
  readonly type: string
  readonly fields: readonly { readonly name: string; readonly optional: boolean }[]
}

/** Every type with its fields, in catalogue order, for the generated documentation. */
export function factCatalogue(): readonly CatalogueEntry[] {
  return Object.entries(factSchemas).map(([type, schema]) => ({
    type,
    fields: Object.entries(schema.shape).map(([name, field]) => ({
      name,
      optional: (field as z.ZodType).safeParse(undefined).success || isOptional(field),
    })),
  }))
}

function isOptional(field: unknown): boolean {
  return field instanceof z.ZodExactOptional || field instanceof z.ZodOptional
}
