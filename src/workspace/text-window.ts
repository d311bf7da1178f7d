import type { FileHandle } from 'node:fs/promises'
import { LandfallError } from '../facts/errors.ts'

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Bytes that a character with this first byte has. */
function charLength(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

export function binaryFile(): LandfallError {
  return new LandfallError('BINARY_FILE', 'The file is not UTF-8 text. Only text can be read.')
}

/** How many bytes at the beginning belong to a character that began before the window. */
export function bytesOfCharBefore(window: Uint8Array): number {
  let count = 0
  while (count < 4 && isContinuation(window[count])) count += 1
  return count > 3 ? 0 : count
}

/** The end of the last whole character; a character cut by the end of the window is left out. */
export function wholeCharsEnd(window: Uint8Array): number {
  let last = window.length - 1
  while (last >= 0 && window.length - last < 4 && isContinuation(window[last])) last -= 1
  const first = window[last]
  if (first === undefined || first < 0xc0) return window.length
  return last + charLength(first) > window.length ? last : window.length
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decodeText(window: Uint8Array): string {
  if (window.includes(0)) throw binaryFile()
  try {
    return decoder.decode(window)
  } catch {
    throw binaryFile()
  }
}

const pieceBytes = 256 * 1_024

/** Whether so many bytes of a file are text. What is at the end may be cut. */
export async function beginsAsText(handle: FileHandle, length: number): Promise<boolean> {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const piece = Buffer.alloc(Math.min(pieceBytes, length))
  for (let at = 0; at < length; ) {
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, length - at), at)
    if (bytesRead === 0) return true
    const read = piece.subarray(0, bytesRead)
    try {
      if (read.includes(0)) return false
      strict.decode(read, { stream: true })
    } catch {
      return false
    }
    at += bytesRead
  }
  return true
}
