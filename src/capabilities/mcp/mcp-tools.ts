import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Effect } from '../../../machines/vocabulary.ts'
import { canonicalJson, wellFormedText } from '../../facts/digest.ts'
import type { Limits } from '../../facts/limits.ts'
import { systemClock } from '../../facts/system-ports.ts'
import { defineTool, type ToolContext, type ToolDefinition } from '../define-tool.ts'
import type { Trust } from '../origin.ts'
import type { ToolSchema } from '../tool-schema.ts'
import type { Sdk } from './load-sdk.ts'
import { withinTime } from './schema-watch.ts'

/** What an operator says about the tools of a server, whatever the server says itself. */
export interface ToolRules {
  readonly trust?: Extract<Trust, 'operator' | 'untrusted'>
  /** By the server's own names of its tools. */
  readonly effects?: { readonly [tool: string]: Effect }
  readonly confirm?: 'none' | 'once' | 'each'
  readonly load?: 'start' | 'demand'
  readonly timeoutMs?: number
}

export interface OfferOf {
  readonly server: string
  readonly provider: string
  readonly binding: number
  readonly rules: ToolRules
  readonly limits: Limits
  readonly sdk: Sdk
  readonly run: (tool: string, args: unknown, effect: Effect, context: ToolContext) => Promise<unknown>
}

export interface Offer {
  readonly tools: readonly ToolDefinition[]
  /** Tools that are left out, each with the reason. */
  readonly leftOut: readonly { readonly tool: string; readonly why: string }[]
}

const lawfulName = /^[A-Za-z0-9._/-]+$/
const shortened = ' … (shortened)'

/** The tools of a server as the catalog holds them. One that cannot be held is left out; the others are none the worse. */
export function offerOf(tools: readonly Tool[], of: OfferOf): Offer {
  const reading = { validator: new of.sdk.AjvJsonSchemaValidator(), leftMs: of.limits.mcpSchemasMs }
  const made = new Map<string, ToolDefinition>()
  const leftOut: { tool: string; why: string }[] = []
  for (const tool of tools) {
    try {
      if (made.size >= of.limits.mcpToolItems) throw new RangeError(`a server may have ${of.limits.mcpToolItems} tools`)
      if (made.has(tool.name)) throw new RangeError('the server has two of this name')
      made.set(tool.name, definitionOf(tool, of, reading))
    } catch (error) {
      leftOut.push({ tool: tool.name.slice(0, of.limits.idChars), why: error instanceof Error ? error.message : '' })
    }
  }
  return { tools: [...made.values()], leftOut }
}

/** The schemas of one offer are read with one validator, in a time that is given to all of them together. */
interface Reading {
  readonly validator: InstanceType<Sdk['AjvJsonSchemaValidator']>
  leftMs: number
}

function definitionOf(tool: Tool, of: OfferOf, reading: Reading): ToolDefinition {
  const { server, provider, binding, rules, limits } = of
  const id = `mcp:${server}:${tool.name}`
  if (!lawfulName.test(tool.name) || id.length > limits.idChars)
    throw new RangeError('the name has characters that none may have, or is too long')
  const { trust = 'untrusted', confirm, load, timeoutMs } = rules
  const effect = effectOf(tool, rules)
  const output = tool.outputSchema === undefined ? {} : { output: schemaOf(tool.outputSchema, of, reading) }
  return defineTool({
    name: id,
    description: descriptionOf(tool, of),
    input: schemaOf(tool.inputSchema, of, reading),
    ...output,
    effect,
    ...(confirm === undefined ? {} : { confirm }),
    ...(load === undefined ? {} : { load }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    origin: { id, provider, binding, trust },
    run: (args, context) => of.run(tool.name, args, effect, context),
  })
}

/** The operator's word first; the server's own is a hint, and believed of a server that the operator vouches for. */
function effectOf({ name, annotations }: Tool, { effects = {}, trust }: ToolRules): Effect {
  const said = Object.hasOwn(effects, name) ? effects[name] : undefined
  if (said !== undefined) return said
  if (trust !== 'operator') return 'mutate'
  if (annotations?.readOnlyHint === true) return 'read'
  return annotations?.idempotentHint === true ? 'idempotent' : 'mutate'
}

function descriptionOf({ name, title, description }: Tool, { server, limits }: OfferOf): string {
  const text = wellFormedText(description?.trim() || title?.trim() || `The tool ${name} of the server ${server}.`)
  if (text.length <= limits.descriptionChars) return text
  return wellFormedText(text.slice(0, limits.descriptionChars - shortened.length)) + shortened
}

/** A JSON Schema of the server's as the catalog takes schemas. */
function schemaOf(given: unknown, { limits }: OfferOf, reading: Reading): ToolSchema {
  const text = canonicalJson(JSON.parse(JSON.stringify(given), (_key, value) => wellFormed(value)))
  if (Buffer.byteLength(text) > limits.mcpSchemaBytes)
    throw new RangeError(`a schema may have ${limits.mcpSchemaBytes} bytes`)
  const { $id: _id, ...schema } = JSON.parse(text) as Record<string, unknown>
  if ('$async' in schema) throw new RangeError('a schema must answer at once')
  const check = checkOf(schema, reading)
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      validate: checkedWithin(limits, check),
      jsonSchema: { input: () => structuredClone(schema) },
    },
  }
}

type Check = (value: unknown) => { readonly valid: boolean; readonly errorMessage: string | undefined }

function checkOf(schema: Record<string, unknown>, reading: Reading): Check {
  const began = systemClock.now()
  const read =
    reading.leftMs < 1 ? null : withinTime(Math.ceil(reading.leftMs), () => reading.validator.getValidator(schema))
  reading.leftMs = read === null ? 0 : reading.leftMs - Math.max(0, systemClock.now() - began)
  if (read === null) throw new RangeError('the schemas of the server take too long to be read')
  return read.value
}

/**
 * One check has its time too, and a second one, in case it was the machine that slept. A schema that takes longer is not asked
 * again: nothing says that the next value would be kinder.
 */
function checkedWithin(
  { mcpSchemaCheckMs, descriptionChars }: Limits,
  check: Check,
): ToolSchema['~standard']['validate'] {
  let spent = false
  return (value) => {
    const inTime = () => withinTime(mcpSchemaCheckMs, () => check(value))
    const checked = spent ? null : (inTime() ?? inTime())
    spent = checked === null
    if (checked === null) return { issues: [{ message: 'the schema of the tool takes too long to be checked' }] }
    const { valid, errorMessage = '' } = checked.value
    return valid ? { value } : { issues: [{ message: errorMessage.slice(0, descriptionChars) }] }
  }
}

function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? wellFormedText(value) : value
}
