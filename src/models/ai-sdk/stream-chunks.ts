import type { FinishReason } from '../../../machines/vocabulary.ts'
import { type Clock, type ModelChunk, ModelError } from '../../facts/ports.ts'
import { invalidResponse } from '../answer-builder.ts'
import type { ToolAliases } from '../tool-aliases.ts'
import { usageOfPart } from '../usage.ts'
import { isRecord, type SpecificationVersion } from './language-model.ts'
import { modelErrorOf } from './provider-error.ts'

export interface StreamOf {
  readonly version: SpecificationVersion
  readonly provider: string
  readonly aliases: ToolAliases
  readonly clock: Clock
}

type Part = Readonly<Record<string, unknown>>
type Call = Extract<ModelChunk, { type: 'call' }>

/** Parts that say nothing that counts: where blocks begin and end, what the answer rests on, what the provider calls itself. */
const silent: ReadonlySet<unknown> = new Set([
  'stream-start',
  'response-metadata',
  'text-start',
  'text-end',
  'reasoning-start',
  'reasoning-end',
  'tool-input-end',
  'source',
  'raw',
  'ping',
  'custom',
])

/**
 * The parts of a provider's stream as chunks of the port. Calls are given out with the finish, when it is known whether they are
 * whole: of an answer that reached its bound, the one that was being written is left out.
 */
export async function* chunksOf(parts: AsyncIterable<unknown>, of: StreamOf): AsyncGenerator<ModelChunk> {
  const calls: Call[] = []
  for await (const part of parts) {
    if (!isRecord(part)) throw invalidResponse('a part of the stream is no object')
    if (part.type === 'error') throw modelErrorOf(part.error, of.clock)
    if (part.type === 'finish') {
      const reason = finishOf(part.finishReason)
      yield* calls.filter((call) => reason !== 'length' || isWhole(call.arguments))
      const usage = usageOfPart(part.usage, { ...of, metadata: part.providerMetadata })
      yield { type: 'finish', reason, usage }
    } else if (part.type === 'tool-call') calls.push(callOf(part, of.aliases))
    else {
      const chunk = piece(part)
      if (chunk !== null) yield chunk
    }
  }
}

function piece(part: Part): ModelChunk | null {
  switch (part.type) {
    case 'text-delta':
      return { type: 'text', text: textOf(part.delta) }
    case 'reasoning-delta':
      return { type: 'reasoning', text: textOf(part.delta) }
    case 'tool-input-start':
      return { type: 'arguments', text: '' }
    case 'tool-input-delta':
      return { type: 'arguments', text: textOf(part.delta) }
    default:
      if (silent.has(part.type)) return null
      throw invalidResponse('it has a part that nobody asked for')
  }
}

function textOf(delta: unknown): string {
  if (typeof delta !== 'string') throw invalidResponse('a piece of text is no text')
  return delta
}

function callOf(part: Part, aliases: ToolAliases): Call {
  const { toolName, input, providerExecuted } = part
  if (providerExecuted === true) throw invalidResponse('the provider ran a tool of its own')
  if (typeof toolName !== 'string') throw invalidResponse('a call has no proper name')
  const name = aliases.nameOf(toolName)
  if (name === undefined) throw invalidResponse('it names a tool that it was not told of')
  // A tool without arguments is called with an empty text by some providers.
  const args = typeof input === 'string' && input.trim() === '' ? '{}' : input
  return { type: 'call', name, arguments: args }
}

function isWhole(args: unknown): boolean {
  if (typeof args !== 'string') return true
  try {
    return isRecord(JSON.parse(args))
  } catch {
    return false
  }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  'tool-calls': 'calls',
  length: 'length',
  'content-filter': 'filter',
  other: 'other',
}

/** v2 has one word; since v3 it stands beside the provider's own, which is missing when the provider gave none. */
function finishOf(said: unknown): FinishReason {
  const unified = isRecord(said) ? said.unified : said
  if (unified === 'error')
    throw new ModelError({ code: 'MODEL_FAILED', retryable: false, reason: 'The provider ended with an error.' })
  const reason = typeof unified === 'string' && Object.hasOwn(reasons, unified) ? reasons[unified] : undefined
  const isMissing = isRecord(said) && unified === 'other' && said.raw === undefined
  if (reason === undefined || isMissing) throw invalidResponse('it ends without a reason that is known')
  return reason
}
