import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'

/** Input of a turn or a steer: a text, or parts of text. */
export type Input = string | readonly { readonly type: 'text'; readonly text: string }[]

/** The text of an input, well-formed and within its bound. */
export function textOf(input: Input, bound: number = limits.contentBytes): string {
  const text = typeof input === 'string' ? input : joined(input)
  if (text.trim() === '') throw invalid('The input is empty. Say what is to be done.')
  const got = Buffer.byteLength(text)
  if (got > bound)
    throw new LandfallError('LIMIT_EXCEEDED', 'The input is larger than its bound. Send less at once.', {
      details: { which: 'input', bound, got },
    })
  return text
}

function joined(parts: unknown): string {
  if (!Array.isArray(parts)) throw invalid('The input is a text, or a list of parts.')
  return parts
    .map((part: { type?: unknown; text?: unknown } | null) => {
      if (part?.type !== 'text' || typeof part.text !== 'string') throw invalid('Only parts of type "text" are taken.')
      return part.text
    })
    .join('\n')
}

function invalid(message: string): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'input' } })
}
