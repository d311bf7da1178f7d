import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { pathParts, refusedPath } from './workspace-path.ts'

/*
 * Opens what is inside a root and nothing else.
 * 1. Nothing outside is opened on purpose: every link on the way is looked at before.
 * 2. What was opened is proved to be inside afterwards, by identity, so that swapping a parent in between gains nothing.
 * 3. Opening never blocks: special files are refused before, and asked for without waiting in case they appear.
 */
export interface Confined {
  readonly handle: FileHandle
  /** The path with links resolved. */
  readonly real: string
}

type Kind = 'file' | 'directory'

const notFound = (): LandfallError =>
  new LandfallError('NOT_FOUND', 'There is nothing at this path. List its folder to see what is.')

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Says what an error of the file system means for a path, without its text, which holds paths of the host. */
function translated(error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return notFound()
  if (code === 'ELOOP' || code === 'ENAMETOOLONG' || code === 'ENXIO') return refusedPath('cannot be opened')
  if (code === 'EACCES' || code === 'EPERM') return refusedPath('may not be read')
  return error
}

/** Refuses what is outside the root, and what is inside but reached through a link under a name that may not be used. */
function checkInside(root: string, real: string): void {
  if (real === root) return
  const prefix = root.endsWith(sep) ? root : root + sep
  if (!real.startsWith(prefix)) throw refusedPath('leads out of the workspace')
  pathParts(real.slice(prefix.length).split(sep).join('/'), limits.pathChars)
}

async function checkLinks(root: string, parts: readonly string[]): Promise<void> {
  let path = root
  for (const part of parts) {
    path = join(path, part)
    const found = await lstat(path)
    if (!found.isSymbolicLink()) continue
    // A link that leads nowhere is refused like one that leads out: where it would lead is nobody's business.
    const real = await realpath(path).catch(() => null)
    if (real === null) throw refusedPath('is a link that leads nowhere')
    checkInside(root, real)
  }
}

function checkKind(kind: Kind, found: { isFile(): boolean; isDirectory(): boolean }): void {
  if (kind === 'file' ? found.isFile() : found.isDirectory()) return
  if (!found.isFile() && !found.isDirectory()) throw refusedPath('is neither a file nor a folder')
  const advice = kind === 'file' ? 'This is a folder. List it instead.' : 'This is a file. Read it instead.'
  throw new LandfallError('INVALID_ARGUMENTS', advice)
}

async function proveInside(root: string, path: string, handle: FileHandle, kind: Kind): Promise<string> {
  const opened = await handle.stat({ bigint: true })
  checkKind(kind, opened)
  // Another name of the same file may be anywhere, so it cannot be proved to belong here.
  if (kind === 'file' && opened.nlink > 1n) throw refusedPath('is a file with other names, which may be outside')
  const real = await realpath(path)
  checkInside(root, real)
  const there = await lstat(real, { bigint: true })
  if (there.ino !== opened.ino || there.dev !== opened.dev) throw refusedPath('changed while it was opened')
  return real
}

const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** `root` is a real path. The caller closes the handle. */
export async function openConfined(root: string, parts: readonly string[], kind: Kind): Promise<Confined> {
  const path = join(root, ...parts)
  let handle: FileHandle | undefined
  try {
    await checkLinks(root, parts)
    checkKind(kind, await stat(path))
    handle = await open(path, flags)
    return { handle, real: await proveInside(root, path, handle, kind) }
  } catch (error) {
    await handle?.close()
    throw translated(error)
  }
}
