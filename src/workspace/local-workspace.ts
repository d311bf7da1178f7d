import { existsSync, realpathSync, statSync } from 'node:fs'
import { type FileHandle, readdir } from 'node:fs/promises'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { isolationRequired } from './attestation.ts'
import { openConfined } from './confined-open.ts'
import { checkRange, outputTooLarge, readWindow, serializedBytes } from './read-window.ts'
import type { ListEntry, ListResult, ReadRange, ReadResult, Workspace } from './workspace.ts'
import { isGitName, isLawfulName, pathParts } from './workspace-path.ts'

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

async function readText(handle: FileHandle, path: string, range: ReadRange): Promise<ReadResult> {
  const { size } = await handle.stat()
  return readWindow({ size, read: (offset, length) => readBytes(handle, offset, length) }, path, range)
}

/** A folder that is open is listed by its handle where the system offers that, so that its name does not matter any more. */
function listedPath(handle: FileHandle, real: string): string {
  const byHandle = `/proc/self/fd/${handle.fd}`
  return existsSync(byHandle) ? byHandle : real
}

async function listFolder(handle: FileHandle, real: string, path: string): Promise<ListResult> {
  const found = await readdir(listedPath(handle, real), { withFileTypes: true })
  const named = found.filter((entry) => !isGitName(entry.name))
  const lawful = named.filter((entry) => isLawfulName(entry.name))
  const entries = lawful.map((entry): ListEntry => {
    if (entry.isFile()) return { name: entry.name, type: 'file' }
    if (entry.isDirectory()) return { name: entry.name, type: 'directory' }
    return { name: entry.name, type: entry.isSymbolicLink() ? 'link' : 'other' }
  })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const result = { path, entries, unlisted: named.length - lawful.length }
  const got = serializedBytes(result)
  if (got > limits.outputBytes) throw outputTooLarge(got)
  return result
}

export function realRoot(dir: string): string {
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
export function localWorkspace(dir: string): Workspace {
  const root = realRoot(dir)
  return {
    isolation: 'none',
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
    diff: async () => ({ diff: '', files: 0 }),
    write: () => Promise.reject(isolationRequired()),
    exec: () => Promise.reject(isolationRequired()),
  }
}
