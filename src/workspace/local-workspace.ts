import { existsSync, realpathSync, statSync } from 'node:fs'
import { type FileHandle, readdir } from 'node:fs/promises'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { isolationRequired } from './attestation.ts'
import { type Confined, openConfined } from './confined-open.ts'
import { boundedOutput, checkRange, type Reading, readWindow } from './read-window.ts'
import type { ListEntry, ListResult, ReadBounds, ReadResult, Workspace } from './workspace.ts'
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

async function readText(handle: FileHandle, reading: Reading): Promise<ReadResult> {
  const { size } = await handle.stat()
  return readWindow({ size, read: (offset, length) => readBytes(handle, offset, length) }, reading)
}

/** A folder that is open is listed by its handle where the system offers that, so that its name does not matter any more. */
function listedPath(handle: FileHandle, real: string): string {
  const byHandle = `/proc/self/fd/${handle.fd}`
  return existsSync(byHandle) ? byHandle : real
}

async function listFolder({ handle, real }: Confined, path: string, bounds: ReadBounds): Promise<ListResult> {
  const found = await readdir(listedPath(handle, real), { withFileTypes: true })
  const named = found.filter((entry) => !isGitName(entry.name))
  const before = path === '.' ? 0 : path.length + 1
  const lawful = named.filter(({ name }) => isLawfulName(name) && before + name.length <= bounds.pathChars)
  const entries = lawful.map((entry): ListEntry => {
    if (entry.isFile()) return { name: entry.name, type: 'file' }
    if (entry.isDirectory()) return { name: entry.name, type: 'directory' }
    return { name: entry.name, type: entry.isSymbolicLink() ? 'link' : 'other' }
  })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  return boundedOutput({ path, entries, unlisted: named.length - lawful.length }, bounds.outputBytes)
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
export function localWorkspace(dir: string, bounds: ReadBounds = limits): Workspace {
  const root = realRoot(dir)
  return {
    isolation: 'none',
    async read(path, range = {}) {
      checkRange(range)
      const parts = pathParts(path, bounds.pathChars)
      const { handle } = await openConfined(root, parts, 'file')
      try {
        return await readText(handle, { path: parts.join('/'), range, outputBytes: bounds.outputBytes })
      } finally {
        await handle.close()
      }
    },
    async list(path) {
      const parts = pathParts(path, bounds.pathChars)
      const folder = await openConfined(root, parts, 'directory')
      try {
        return await listFolder(folder, parts.join('/') || '.', bounds)
      } finally {
        await folder.handle.close()
      }
    },
    diff: async () => ({ diff: '', files: 0 }),
    write: () => Promise.reject(isolationRequired()),
    exec: () => Promise.reject(isolationRequired()),
  }
}
