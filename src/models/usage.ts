import type { Usage } from '../../machines/vocabulary.ts'
import type { SpecificationVersion } from './ai-sdk/language-model.ts'

export interface StreamBytes {
  readonly request: number
  readonly received: number
}

/** What a provider says, as far as it says it. */
export interface RawUsage {
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly total?: number | undefined
  readonly cached?: number | undefined
  readonly reasoning?: number | undefined
}

interface PartOf {
  readonly version: SpecificationVersion
  readonly provider: string
  readonly metadata: unknown
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})

/** Usage as the finish of an AI SDK stream gives it, by version of the specification. */
export function usageOfPart(usage: unknown, of: PartOf): RawUsage {
  const fields = fieldsOf(usage)
  return of.version === 'v2' ? usageOfV2(fields, of) : usageOfV3(fields)
}

/** Every request has something in it: where no input was counted, the package wrote a zero for what the provider did not say. */
function saidCounts(input: number | undefined, output: number | undefined, cached: number | undefined) {
  const isSaid = input === undefined || input > 0 || (cached ?? 0) > 0
  return isSaid ? { input, output } : { input: undefined, output: output === 0 ? undefined : output }
}

/** Wholes with their parts, since v3. What the provider itself wrote is beside them, and its total tells whether a part is inside. */
function usageOfV3(fields: Fields): RawUsage {
  const raw = fieldsOf(fields.raw)
  const inputs = fieldsOf(fields.inputTokens)
  const outputs = fieldsOf(fields.outputTokens)
  const cached = counted(inputs.cacheRead) || counted(raw.prompt_cache_hit_tokens) || undefined
  const { input, output } = saidCounts(counted(inputs.total), counted(outputs.total), cached)
  const reasoning = counted(outputs.reasoning) || undefined
  const fits = (cached ?? 0) <= (input ?? 0) && (reasoning ?? 0) <= (output ?? 0)
  const sum = fits && input !== undefined && output !== undefined ? input + output : undefined
  return { input, output, cached, reasoning, total: counted(raw.total_tokens) ?? counted(raw.totalTokenCount) ?? sum }
}

/** Plain numbers. Anthropic's packages of that time left what came from the cache, and what went into it, out of the input. */
function usageOfV2(fields: Fields, { provider, metadata }: PartOf): RawUsage {
  const cached = counted(fields.cachedInputTokens) || undefined
  const { input, output } = saidCounts(counted(fields.inputTokens), counted(fields.outputTokens), cached)
  const reasoning = counted(fields.reasoningTokens) || undefined
  const { anthropic } = fieldsOf(metadata)
  if (!provider.includes('anthropic') && anthropic === undefined)
    return { input, output, cached, reasoning, total: counted(fields.totalTokens) }
  const written = counted(fieldsOf(anthropic).cacheCreationInputTokens) ?? 0
  const whole = input === undefined ? undefined : input + (cached ?? 0) + written
  const total = whole === undefined || output === undefined ? undefined : whole + output
  return { input: whole, output, cached, reasoning, total }
}

const tokens = (bytes: number): number => Math.ceil(bytes / 4)

/** What a request is charged when the provider did not say: a token for four bytes each way. */
export function estimatedUsage(bytes: StreamBytes): Usage {
  const input = tokens(bytes.request)
  const output = tokens(bytes.received)
  return { input, output, total: input + output, estimated: true }
}

/** A count beyond this is none: summed over the life of a session, counts must stay whole numbers that facts can hold. */
const mostTokens = 1_000_000_000

const counted = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= mostTokens ? value : undefined

interface Counts {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
}

/**
 * Some providers count cached tokens inside the input and reasoning inside the output, others beside them. The total tells
 * which, when one reading adds up to it; otherwise a part larger than its whole must stand beside it, and any other is inside.
 */
function withParts(said: Counts, total: number | undefined): { input: number; output: number } {
  for (const cached of [0, said.cached])
    for (const reasoning of [0, said.reasoning]) {
      const input = said.input + cached
      const output = said.output + reasoning
      if (input + output === total) return { input, output }
    }
  return {
    input: said.input + (said.cached > said.input ? said.cached : 0),
    output: said.output + (said.reasoning > said.output ? said.reasoning : 0),
  }
}

/** The one place where a provider's counts become ours: `input` includes cached tokens, `output` includes reasoning. */
export function normaliseUsage(raw: RawUsage | undefined, bytes: StreamBytes): Usage {
  const guess = estimatedUsage(bytes)
  const cached = counted(raw?.cached)
  const reasoning = counted(raw?.reasoning)
  const total = counted(raw?.total)
  const said = { input: counted(raw?.input), output: counted(raw?.output) }
  const counts = { input: said.input ?? guess.input, output: said.output ?? guess.output }
  const complete = said.input !== undefined && said.output !== undefined
  const { input, output } = withParts({ ...counts, cached: cached ?? 0, reasoning: reasoning ?? 0 }, total)
  return {
    input,
    output,
    total: Math.max(input + output, complete ? (total ?? 0) : 0),
    ...(cached === undefined ? {} : { cached }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(complete ? {} : { estimated: true }),
  }
}
