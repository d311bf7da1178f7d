import { constants, type Dirent } from 'node:fs'
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isLandfallError, LandfallError } from '../facts/errors.ts'
import type { LeftOut, LeftOutFolder } from './left-out.ts'
import { realRoot } from './local-workspace.ts'
import { beginsAsText } from './text-window.ts'
import { beyondBound, checkedTree, fileOf, type Tree, type TreeBounds, type TreeFile } from './tree.ts'
import { isGitName, isLawfulName, isNameable } from './workspace-path.ts'

/** A tree as it was copied, and what was left out of it. */
export interface CopiedTree {
  readonly tree: Tree
  readonly leftOut: LeftOut
}

/** Folders of installed packages are neither small nor what somebody works on. */
export const excludedByDefault: readonly string[] = ['node_modules']

const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** So many names of what was left out are kept of a folder, and of all of them. Beyond that a folder takes nothing new. */
const namesInFolder = 1_000
const namesInAll = 10_000

/**
 * Copies the text files of a folder into memory. Links, special files, files with other names, and what is no text are left out
 * and named; Git metadata is not there at all. Too much of it is refused. The folder is only read.
 */
export async function copySource(dir: string, bounds: TreeBounds, exclude = excludedByDefault): Promise<CopiedTree> {
  const copy = new Copy(bounds, new Set(exclude))
  const root = await copy.folder(realRoot(dir), '')
  if (root === null) throw unreadable()
  return { tree: checkedTree(copy.files, bounds), leftOut: copy.leftOut(root) }
}

/** What is known of one folder while it is copied. */
interface Seen {
  /** Whether a text file of it, or of a folder in it, was copied. */
  kept: boolean
  count: number
  names: string[]
  /** Of the folders in it. */
  readonly below: Map<string, LeftOutFolder>
}

class Copy {
  readonly files = new Map<string, TreeFile>()
  readonly #bounds: TreeBounds
  readonly #exclude: ReadonlySet<string>
  #bytes = 0
  #names = 0

  constructor(bounds: TreeBounds, exclude: ReadonlySet<string>) {
    this.#bounds = bounds
    this.#exclude = exclude
  }

  leftOut(root: Map<string, LeftOutFolder>): LeftOut {
    return new Map([...root].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** What was left out of the folder and those below it; null: it is gone meanwhile, or not ours to read. */
  async folder(real: string, path: string): Promise<Map<string, LeftOutFolder> | null> {
    const entries = await readdir(real, { withFileTypes: true }).catch(() => null)
    if (entries === null) return null
    const before = this.files.size
    const seen: Seen = { kept: false, count: 0, names: [], below: new Map() }
    const inKept = new Map<string, LeftOutFolder>()
    let hasGit = false
    for (const found of entries) {
      if (isGitName(found.name)) hasGit = true
      else await this.#entry(found, { real, path, seen, inKept })
    }
    // A folder that was swapped for a link while it was read may have shown what is outside.
    if ((await realpath(real).catch(() => null)) !== real)
      throw new LandfallError('WORKSPACE_PATH', 'The source of the workspace changed while it was copied. Try again.')
    seen.kept = this.files.size > before
    const own = this.#bounded(seen)
    const isKnownByItsFiles = seen.kept && seen.count === 0 && !hasGit
    if (!isKnownByItsFiles) seen.below.set(path, own)
    for (const [folder, of] of seen.below) inKept.set(folder, of)
    return inKept
  }

  async #entry(found: Dirent, of: { real: string; path: string; seen: Seen; inKept: Map<string, LeftOutFolder> }) {
    const { seen } = of
    const path = of.path === '' ? found.name : `${of.path}/${found.name}`
    const place = join(of.real, found.name)
    const lawful = isLawfulName(found.name) && path.length <= this.#bounds.pathChars && !this.#exclude.has(found.name)
    if (lawful && found.isFile() && (await this.#file(place, path))) return
    if (lawful && found.isDirectory()) {
      const before = this.files.size
      const below = await this.folder(place, path)
      const target = this.files.size > before ? of.inKept : seen.below
      for (const [folder, what] of below ?? []) target.set(folder, what)
      if (below !== null) return
    }
    seen.count += 1
    if (isNameable(found.name)) seen.names.push(found.name)
  }

  /** Names cost memory and room in the log. Where there are very many, nobody needs to put one more file. */
  #bounded(seen: Seen): LeftOutFolder {
    const { count, names, below } = seen
    let size = names.length + below.size
    for (const each of below.values()) size += each.names?.length ?? 0
    // What a folder without text files says is counted again with each folder above it, until one has some.
    if (size <= namesInFolder && (!seen.kept || this.#names + size <= namesInAll)) {
      if (seen.kept) this.#names += size
      return { count, names: names.sort() }
    }
    below.clear()
    return { count, names: null }
  }

  async #file(place: string, path: string): Promise<boolean> {
    const file = await textOf(place, path, this.#bounds)
    if (file === null) return false
    this.#bytes += file.bytes
    const { workspaceTreeBytes, workspaceFiles } = this.#bounds
    if (this.#bytes > workspaceTreeBytes) throw beyondBound('workspaceTreeBytes', workspaceTreeBytes, this.#bytes)
    if (this.files.size >= workspaceFiles) throw beyondBound('workspaceFiles', workspaceFiles, this.files.size + 1)
    this.files.set(path, file)
    return true
  }
}

function unreadable(): LandfallError {
  const message = 'The source of the workspace cannot be read. Name a folder that this user may read.'
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'workspace.from' } })
}

/** null: not a plain text file with one name. */
async function textOf(place: string, path: string, bounds: TreeBounds): Promise<TreeFile | null> {
  let handle: FileHandle | undefined
  try {
    handle = await open(place, flags)
    const found = await handle.stat()
    if (!found.isFile() || found.nlink > 1) return null
    const { workspaceFileBytes, workspaceTreeBytes } = bounds
    if (found.size <= workspaceFileBytes) return fileOf(await handle.readFile(), (found.mode & 0o100) !== 0)
    // As much of it is looked at as all files together may have; text that long is too much, and anything else is no text.
    if (!(await beginsAsText(handle, Math.min(found.size, workspaceTreeBytes)))) return null
    throw beyondBound('workspaceFileBytes', workspaceFileBytes, found.size, path)
  } catch (error) {
    if (isLandfallError(error, 'LIMIT_EXCEEDED')) throw error
    // No text, gone meanwhile, a link, or not ours to read.
    return null
  } finally {
    await handle?.close()
  }
}
