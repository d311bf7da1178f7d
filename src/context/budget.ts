import type { ContextPolicy } from '../../machines/vocabulary.ts'

/** What the hard session budget and the window allow of one request. Bytes and tokens are counted alike in the window. */
export interface BudgetQuestion {
  readonly occupancy: number
  readonly reserve: number
  readonly window: number
  /** Tokens used over the life of the session, and reserved by requests in flight. */
  readonly used: number
  readonly reserved: number
  /** `null`: no budget. */
  readonly limit: number | null
  /** Output tokens that the settings ask for; absent: the reserve. */
  readonly asked?: number
}

export interface BudgetAnswer {
  readonly fits: boolean
  readonly affordable: boolean
  readonly maxOutput: number
  /** What the request reserves until its usage is known. */
  readonly reservation: number
}

/** Occupancy is not the budget: the first is about this request, the second about the life of the session. */
export function askBudget(question: BudgetQuestion): BudgetAnswer {
  const { occupancy, reserve, window, used, reserved, limit } = question
  const input = inputTokens(occupancy)
  const free = limit === null ? Number.POSITIVE_INFINITY : limit - used - reserved
  const maxOutput = Math.max(0, Math.min(question.asked ?? reserve, reserve, free - input))
  return {
    fits: occupancy + reserve <= window,
    affordable: free > input,
    maxOutput,
    reservation: input + maxOutput,
  }
}

/** Estimate of what a request of so many bytes costs, where nobody has counted. */
export function inputTokens(bytes: number): number {
  return Math.ceil(bytes / 4)
}

const warnPercents = [50, 90] as const

/** Warnings that are due now and were not given before. */
export function dueWarnings(used: number, limit: number | null, given: ReadonlySet<number>): readonly number[] {
  if (limit === null) return []
  return warnPercents.filter((percent) => !given.has(percent) && used * 100 >= limit * percent)
}

/** What a request may hold of input: up to where compaction begins, and never into the reserve for the output. */
export function usableInput({ windowTokens, thresholdTokens, reserveTokens }: ContextPolicy): number {
  return Math.min(thresholdTokens, windowTokens - reserveTokens)
}
