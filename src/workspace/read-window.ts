import { LandfallError } from '../facts/errors.ts'
import { binaryFile, bytesOfCharBefore, decodeText, wholeCharsEnd } from './text-window.ts'
import type { ReadRange, ReadResult } from './workspace.ts'

/** How much of a file is looked at to tell text from other data, wherever the range is. */
const sniffedBytes = 8_192
const longestChar = 4

/** Where the bytes of one file come from. */
export interface ByteSource {
  readonly size: number
  /** Fewer bytes than asked only at the end. */
  read(offset: number, length: number): Promise<Uint8Array>
}

const serializedBytes = (value: object): number => Buffer.byteLength(JSON.stringify(value))

/** The output, when it is within its bound. */
export function boundedOutput<T extends object>(output: T, bound: number): T {
  const got = serializedBytes(output)
  if (got > bound) throw outputTooLarge(got, bound)
  return output
}

function outputTooLarge(got: number, bound: number): LandfallError {
  const message = `The output is larger than ${bound} bytes. Ask for a smaller part.`
  return new LandfallError('OUTPUT_LIMIT', message, { details: { bound, got } })
}

export function checkRange(range: ReadRange): void {
  const { offset = 0, length = 1 } = range
  if (Number.isSafeInteger(offset) && offset >= 0 && Number.isSafeInteger(length) && length >= 1) return
  throw new LandfallError('INVALID_ARGUMENTS', 'offset must be a whole number of at least 0, length of at least 1.')
}

/** What is read of a file, and how much of it may be told. */
export interface Reading {
  readonly path: string
  readonly range: ReadRange
  readonly outputBytes: number
}

/** The text of a range, cut where characters end, that says how much there is. A whole file that is too large is refused. */
export async function readWindow(source: ByteSource, reading: Reading): Promise<ReadResult> {
  const { size } = source
  const { range, outputBytes } = reading
  const ranged = range.offset !== undefined || range.length !== undefined
  if (!ranged && size > outputBytes) throw outputTooLarge(size, outputBytes)
  if ((await source.read(0, Math.min(sniffedBytes, size))).includes(0)) throw binaryFile()
  const asked = Math.min(range.length ?? outputBytes, outputBytes)
  const from = Math.min(range.offset ?? 0, size)
  // Some more than asked, so that a length below that of one character still gives one.
  const raw = await source.read(from, Math.min(asked + 2 * longestChar, size - from))
  const skipped = from === 0 ? 0 : bytesOfCharBefore(raw)
  const rest = raw.subarray(skipped)
  const whole = wholeCharsEnd(rest.subarray(0, asked))
  const atEnd = from + skipped + Math.min(asked, rest.length) >= size
  // At the end of the file a cut character is a damaged one, not one that goes on.
  const end = atEnd ? Math.min(asked, rest.length) : whole > 0 ? whole : firstCharEnd(rest)
  const result = fitted(reading, rest.subarray(0, end), from + skipped, size)
  if (!ranged && result.next !== undefined) throw outputTooLarge(size, outputBytes)
  return result
}

/** The result for a window of whole characters, shortened until it fits the output bound. */
function fitted({ path, outputBytes }: Reading, window: Uint8Array, offset: number, size: number): ReadResult {
  let part = window
  for (;;) {
    const text = decodeText(part)
    const end = offset + part.length
    const result: ReadResult = { path, text, offset, bytes: part.length, size, ...(end < size ? { next: end } : {}) }
    const got = serializedBytes(result)
    if (got <= outputBytes) return result
    const least = firstCharEnd(part)
    // A bound below what says that there is one character leaves nothing to tell.
    if (part.length <= least) throw outputTooLarge(got, outputBytes)
    const fewer = Math.min(part.length - 1, Math.floor((part.length * outputBytes) / got) - 128)
    const cut = part.subarray(0, Math.max(fewer, least))
    part = cut.subarray(0, Math.max(wholeCharsEnd(cut), least))
  }
}

function firstCharEnd(bytes: Uint8Array): number {
  let end = 1
  while (end < longestChar && ((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1
  return Math.min(end, bytes.length)
}
