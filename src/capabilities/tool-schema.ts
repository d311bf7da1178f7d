import { LandfallError } from '../facts/errors.ts'

type Issue = {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
type Validated = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

/**
 * A Standard Schema that can describe itself as JSON Schema. zod is the documented choice; the shape alone matters, so that a
 * tool may bring another library or another copy of zod.
 */
export interface ToolSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated | Promise<Validated>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
  }
}

export type OutputOf<S extends ToolSchema> = NonNullable<S['~standard']['types']>['output']

export function isToolSchema(value: unknown): value is ToolSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as { '~standard'?: Partial<ToolSchema['~standard']> })['~standard']
  return typeof standard?.validate === 'function' && typeof standard.jsonSchema?.input === 'function'
}

/** Plain JSON Schema of what the tool takes, without the dialect's address: that is the same for all. */
export function jsonSchemaOf(schema: ToolSchema): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  return ordered(rest) as Record<string, unknown>
}

/** `required` is a set: the order in which a schema lists its properties is no part of what it says. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, ordered(item)])
  const { required, ...rest } = Object.fromEntries(entries)
  const isSet = Array.isArray(required) && 'properties' in rest && required.every((name) => typeof name === 'string')
  if (required === undefined) return rest
  return { ...rest, required: isSet ? [...required].sort() : required }
}

const pathOf = (issue: Issue): string =>
  (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')

export type Checked<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly issues: readonly { readonly path: string; readonly message: string }[] }

/** The value as the schema makes it, or the places where it does not fit. At once, because a step cannot wait. */
export function validateArguments<Output>(schema: ToolSchema<Output>, value: unknown): Checked<Output> {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) {
    result.catch(() => {})
    return {
      ok: false,
      issues: [{ path: '', message: 'the schema of the tool answers later; it must answer at once' }],
    }
  }
  if (result.issues === undefined) return { ok: true, value: result.value as Output }
  return { ok: false, issues: result.issues.map((issue) => ({ path: pathOf(issue), message: issue.message })) }
}

/** Like `validateArguments`, but throws `INVALID_ARGUMENTS`, with the places and no content in its message. */
export function checkArguments<Output>(schema: ToolSchema<Output>, value: unknown): Output {
  const checked = validateArguments(schema, value)
  if (checked.ok) return checked.value
  const message = 'The arguments do not fit the schema of the tool. Correct the places named in the details.'
  throw new LandfallError('INVALID_ARGUMENTS', message, { details: { issues: checked.issues } })
}
