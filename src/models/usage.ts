import type { Usage } from '../../machines/vocabulary.ts'

export interface StreamBytes {
  readonly request: number
  readonly received: number
}

/** What a provider says, as far as it says it. */
export interface RawUsage {
  readonly input?: number
  readonly output?: number
  readonly total?: number
  readonly cached?: number
  readonly reasoning?: number
}

const tokens = (bytes: number): number => Math.ceil(bytes / 4)

/** What a request is charged when the provider did not say: a token for four bytes each way. */
export function estimatedUsage(bytes: StreamBytes): Usage {
  const input = tokens(bytes.request)
  const output = tokens(bytes.received)
  return { input, output, total: input + output, estimated: true }
}

const counted = (value: number | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

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
