import { LandfallError } from '../facts/errors.ts'

/** Input of a turn or a steer: a text, or parts of text. */
export type Input = string | readonly { readonly type: 'text'; readonly text: string }[]

/** The text of an input. */
export function textOf(input: Input): string {
  if (typeof input === 'string') return input
  if (!Array.isArray(input)) throw invalid('The input is a text, or a list of parts.')
  return input
    .map((part: { type?: unknown; text?: unknown } | null) => {
      if (part?.type !== 'text' || typeof part.text !== 'string') throw invalid('Only parts of type "text" are taken.')
      return part.text
    })
    .join('\n')
}

/** Refuses what is empty or beyond its bound; nothing is cut. */
export function boundedText(text: string, which: string, bound: number): void {
  if (text.trim() === '') throw invalid('The input is empty. Say what is to be done.')
  if (/\p{Surrogate}/u.test(text)) throw invalid('The input holds half of a character. Send well-formed text.')
  const got = Buffer.byteLength(text)
  if (got > bound)
    throw new LandfallError('LIMIT_EXCEEDED', 'The input is larger than its bound. Send less at once.', {
      details: { which, bound, got },
    })
}

function invalid(message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'input' } })
}
