import { constants } from 'node:fs'
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isLandfallError, LandfallError } from '../facts/errors.ts'
import { realRoot } from './local-workspace.ts'
import { beyondBound, checkedTree, fileOf, type Tree, type TreeBounds, type TreeFile } from './tree.ts'
import { isGitName, isLawfulName } from './workspace-path.ts'

/** A tree as it was copied, and by folder how many entries were left out of it. */
export interface CopiedTree {
  readonly tree: Tree
  readonly leftOut: ReadonlyMap<string, number>
}

/** Folders of installed packages are neither small nor what somebody works on. */
export const excludedByDefault: readonly string[] = ['node_modules']

const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
const sniffedBytes = 8_192

/**
 * Copies the text files of a folder into memory. Links, special files, files with other names, and what is no text are left out
 * and counted; Git metadata is not there at all. Too much of it is refused. The folder is only read.
 */
export async function copySource(dir: string, bounds: TreeBounds, exclude = excludedByDefault): Promise<CopiedTree> {
  const copy = new Copy(bounds, new Set(exclude))
  await copy.folder(realRoot(dir), '')
  return { tree: checkedTree(copy.files, bounds), leftOut: copy.leftOut }
}

class Copy {
  readonly files = new Map<string, TreeFile>()
  readonly leftOut = new Map<string, number>()
  readonly #bounds: TreeBounds
  readonly #exclude: ReadonlySet<string>
  #bytes = 0

  constructor(bounds: TreeBounds, exclude: ReadonlySet<string>) {
    this.#bounds = bounds
    this.#exclude = exclude
  }

  async folder(real: string, path: string): Promise<void> {
    const entries = await readdir(real, { withFileTypes: true }).catch(() => null)
    // Gone meanwhile, or not ours to read: like such a file it is left out of the folder that has it.
    if (entries === null) {
      if (path === '') throw unreadable()
      return this.#leaveOut(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
    }
    for (const found of entries) {
      if (isGitName(found.name)) continue
      const below = path === '' ? found.name : `${path}/${found.name}`
      const place = join(real, found.name)
      if (!isLawfulName(found.name) || this.#exclude.has(found.name)) this.#leaveOut(path)
      else if (found.isDirectory()) await this.folder(place, below)
      else if (found.isFile()) await this.#file(place, path, below)
      else this.#leaveOut(path)
    }
    // A folder that was swapped for a link while it was read may have shown what is outside.
    if ((await realpath(real).catch(() => null)) !== real)
      throw new LandfallError('WORKSPACE_PATH', 'The source of the workspace changed while it was copied. Try again.')
  }

  async #file(place: string, folder: string, path: string): Promise<void> {
    const file = await textOf(place, this.#bounds)
    if (file === null) return this.#leaveOut(folder)
    this.#bytes += file.bytes
    const { workspaceTreeBytes, workspaceFiles } = this.#bounds
    if (this.#bytes > workspaceTreeBytes) throw beyondBound('workspaceTreeBytes', workspaceTreeBytes, this.#bytes)
    if (this.files.size >= workspaceFiles) throw beyondBound('workspaceFiles', workspaceFiles, this.files.size + 1)
    this.files.set(path, file)
  }

  #leaveOut(folder: string): void {
    this.leftOut.set(folder, (this.leftOut.get(folder) ?? 0) + 1)
  }
}

function unreadable(): LandfallError {
  const message = 'The source of the workspace cannot be read. Name a folder that this user may read.'
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'workspace.from' } })
}

/** null: not a plain text file with one name. */
async function textOf(place: string, bounds: TreeBounds): Promise<TreeFile | null> {
  let handle: FileHandle | undefined
  try {
    handle = await open(place, flags)
    const found = await handle.stat()
    if (!found.isFile() || found.nlink > 1) return null
    const start = Buffer.alloc(Math.min(sniffedBytes, found.size))
    await handle.read(start, 0, start.length, 0)
    if (start.includes(0)) return null
    if (found.size > bounds.workspaceFileBytes)
      throw beyondBound('workspaceFileBytes', bounds.workspaceFileBytes, found.size)
    return fileOf(await handle.readFile(), (found.mode & 0o100) !== 0)
  } catch (error) {
    if (isLandfallError(error, 'LIMIT_EXCEEDED')) throw error
    // No text, gone meanwhile, a link, or not ours to read.
    return null
  } finally {
    await handle?.close()
  }
}
