import { median, pairedRatio } from './measure.ts'

/** One line of a result. Figures are medians; `ratio` is subject over floor. The goal is printed beside it and never judged. */
export interface Row {
  readonly what: string
  readonly unit: string
  readonly product: number | null
  readonly floor: number | null
  readonly ratio: number | null
  readonly goal: string
}

export type Availability = 'measured' | 'not available yet' | 'failed'

export interface Result {
  readonly name: string
  /** What was done, precisely enough to repeat it. */
  readonly conditions: string
  readonly availability: Availability
  /** Why the product's figures are missing. */
  readonly reason?: string
  readonly rows: readonly Row[]
}

interface RowHead {
  readonly what: string
  readonly unit: string
  readonly goal: string
}

/** A row from the samples of one interleaved measurement. */
export function sampledRow(head: RowHead, product: readonly number[] | null, floor: readonly number[] | null): Row {
  return {
    ...head,
    product: product === null ? null : median(product),
    floor: floor === null ? null : median(floor),
    ratio: product === null || floor === null ? null : pairedRatio(product, floor),
  }
}

/** A row from two figures that are not samples of the same rounds, such as sizes and slopes. */
export function figureRow(head: RowHead, product: number | null, floor: number | null): Row {
  return { ...head, product, floor, ratio: product === null || floor === null ? null : product / floor }
}
