import type { BenchEnvironment } from './environment.ts'
import type { Product } from './product.ts'
import type { Result, Row } from './result.ts'

export interface BenchCase {
  readonly name: string
  readonly run: (env: BenchEnvironment) => Promise<Result>
}

export function productOf(env: BenchEnvironment): Product | null {
  return 'found' in env.product ? env.product.found : null
}

/** A result whose product half is there exactly when the product is. */
export function resultOf(
  env: BenchEnvironment,
  body: { name: string; conditions: string; rows: readonly Row[] },
): Result {
  if ('found' in env.product) return { ...body, availability: 'measured' }
  return { ...body, availability: 'not available yet', reason: env.product.missing }
}
