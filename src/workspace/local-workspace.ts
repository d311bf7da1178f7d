import { existsSync, realpathSync, statSync } from 'node:fs'
import { type FileHandle, readdir } from 'node:fs/promises'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { openConfined } from './confined-open.ts'
import { binaryFile, bytesOfCharBefore, decodeText, wholeCharsEnd } from './text-window.ts'
import type { ListEntry, ListResult, ReadableWorkspace, ReadRange, ReadResult } from './workspace.ts'
import { isLawfulName, pathParts } from './workspace-path.ts'

/** How much of a file is looked at to tell text from other data, wherever the range is. */
const sniffedBytes = 8_192
const longestChar = 4

const serializedBytes = (value: object): number => Buffer.byteLength(JSON.stringify(value))

function tooLarge(got: number): LandfallError {
  const message = `The output is larger than ${limits.outputBytes} bytes. Ask for a smaller part.`
  return new LandfallError('OUTPUT_LIMIT', message, { details: { bound: limits.outputBytes, got } })
}

function checkRange(range: ReadRange): void {
  const { offset = 0, length = 1 } = range
  if (Number.isSafeInteger(offset) && offset >= 0 && Number.isSafeInteger(length) && length >= 1) return
  throw new LandfallError('INVALID_ARGUMENTS', 'offset must be a whole number of at least 0, length of at least 1.')
}

async function readBytes(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

/** The result for a window of whole characters, shortened until it fits the output bound. */
function fitted(path: string, window: Uint8Array, offset: number, size: number): ReadResult {
  let part = window
  for (;;) {
    const text = decodeText(part)
    const end = offset + part.length
    const result: ReadResult = { path, text, offset, bytes: part.length, size, ...(end < size ? { next: end } : {}) }
    const got = serializedBytes(result)
    if (got <= limits.outputBytes) return result
    const fewer = Math.min(part.length - 1, Math.floor((part.length * limits.outputBytes) / got) - 128)
    part = part.subarray(0, Math.max(fewer, longestChar))
    part = part.subarray(0, wholeCharsEnd(part))
  }
}

async function readText(handle: FileHandle, path: string, range: ReadRange): Promise<ReadResult> {
  const { size } = await handle.stat()
  const ranged = range.offset !== undefined || range.length !== undefined
  if (!ranged && size > limits.outputBytes) throw tooLarge(size)
  if ((await readBytes(handle, 0, Math.min(sniffedBytes, size))).includes(0)) throw binaryFile()
  const asked = Math.min(range.length ?? limits.outputBytes, limits.outputBytes)
  const from = Math.min(range.offset ?? 0, size)
  // Some more than asked, so that a length below that of one character still gives one.
  const raw = await readBytes(handle, from, Math.min(asked + 2 * longestChar, size - from))
  const skipped = from === 0 ? 0 : bytesOfCharBefore(raw)
  const rest = raw.subarray(skipped)
  const whole = wholeCharsEnd(rest.subarray(0, asked))
  const atEnd = from + skipped + Math.min(asked, rest.length) >= size
  // At the end of the file a cut character is a damaged one, not one that goes on.
  const end = atEnd ? Math.min(asked, rest.length) : whole > 0 ? whole : firstCharEnd(rest)
  const result = fitted(path, rest.subarray(0, end), from + skipped, size)
  if (!ranged && result.next !== undefined) throw tooLarge(size)
  return result
}

function firstCharEnd(bytes: Uint8Array): number {
  let end = 1
  while (end < longestChar && ((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1
  return Math.min(end, bytes.length)
}

/** A folder that is open is listed by its handle where the system offers that, so that its name does not matter any more. */
function listedPath(handle: FileHandle, real: string): string {
  const byHandle = `/proc/self/fd/${handle.fd}`
  return existsSync(byHandle) ? byHandle : real
}

async function listFolder(handle: FileHandle, real: string, path: string): Promise<ListResult> {
  const found = await readdir(listedPath(handle, real), { withFileTypes: true })
  const named = found.filter((entry) => entry.name.toLowerCase() !== '.git')
  const lawful = named.filter((entry) => isLawfulName(entry.name))
  const entries = lawful.map((entry): ListEntry => {
    if (entry.isFile()) return { name: entry.name, type: 'file' }
    if (entry.isDirectory()) return { name: entry.name, type: 'directory' }
    return { name: entry.name, type: entry.isSymbolicLink() ? 'link' : 'other' }
  })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const result = { path, entries, unlisted: named.length - lawful.length }
  const got = serializedBytes(result)
  if (got > limits.outputBytes) throw tooLarge(got)
  return result
}

function realRoot(dir: string): string {
  try {
    const root = realpathSync(dir)
    if (statSync(root).isDirectory()) return root
  } catch {
    // Said below, without the text of the system's error.
  }
  throw new LandfallError('INVALID_INPUT', 'The workspace is no folder that can be read. Name an existing one.', {
    details: { field: 'workspace', dir },
  })
}

/** Read-only view of a folder of this machine. Nothing outside it is reached, by whatever name. */
export function localWorkspace(dir: string): ReadableWorkspace {
  const root = realRoot(dir)
  return {
    async read(path, range = {}) {
      checkRange(range)
      const parts = pathParts(path)
      const { handle } = await openConfined(root, parts, 'file')
      try {
        return await readText(handle, parts.join('/'), range)
      } finally {
        await handle.close()
      }
    },
    async list(path) {
      const parts = pathParts(path)
      const { handle, real } = await openConfined(root, parts, 'directory')
      try {
        return await listFolder(handle, real, parts.join('/') || '.')
      } finally {
        await handle.close()
      }
    },
  }
}
