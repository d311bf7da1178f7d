import { LandfallError } from '../facts/errors.ts'

/** Where a store ends and what it still keeps, for judging a position. */
export interface Extent {
  readonly epoch: string
  readonly last: number
  /** Facts up to this cursor are gone; 0 while everything is kept. */
  readonly gone: number
}

/** The opaque `<epoch>-<n>`: everything up to cursor `n` has been seen. */
export function positionText(epoch: string, cursor: number): string {
  return `${epoch}-${cursor}`
}

/** The cursor of a position, or an error; never a guess at what the client might have meant. */
export function readPosition(text: unknown, extent: Extent): number {
  const cursor = cursorOf(text, extent.epoch)
  if (cursor === null || cursor > extent.last) {
    throw new LandfallError(
      'CURSOR_INVALID',
      'The position is not one of this store. Subscribe without a position to get everything from the first fact.',
    )
  }
  if (cursor < extent.gone) {
    throw new LandfallError(
      'CURSOR_TOO_OLD',
      'The facts after this position are no longer kept. Subscribe without a position to get what is left.',
    )
  }
  return cursor
}

function cursorOf(text: unknown, epoch: string): number | null {
  if (typeof text !== 'string' || !text.startsWith(`${epoch}-`)) return null
  const digits = text.slice(epoch.length + 1)
  if (!/^(0|[1-9]\d{0,15})$/.test(digits)) return null
  const cursor = Number(digits)
  return Number.isSafeInteger(cursor) ? cursor : null
}
