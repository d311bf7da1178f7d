import { createHash } from 'node:crypto'
import { LandfallError } from '../facts/errors.ts'
import type { Limits } from '../facts/limits.ts'
import { decodeText } from './text-window.ts'

/** A text file of a tree. Never changed in place, so the same object means the same file. */
export interface TreeFile {
  readonly text: string
  /** Length in UTF-8. */
  readonly bytes: number
  readonly executable: boolean
}

/** Text files by path, in path order. Folders are what the paths say: one without files is not kept. */
export type Tree = ReadonlyMap<string, TreeFile>

type CountedBounds = Pick<Limits, 'workspaceFileBytes' | 'workspaceTreeBytes' | 'workspaceFiles'>
export type TreeBounds = CountedBounds & Pick<Limits, 'pathChars'>

export const emptyTree: Tree = new Map()

export function textFile(text: string, executable: boolean): TreeFile {
  return { text, bytes: Buffer.byteLength(text), executable }
}

export function fileOf(bytes: Uint8Array, executable: boolean): TreeFile {
  return { text: decodeText(bytes), bytes: bytes.length, executable }
}

export function isSameFile(one: TreeFile | undefined, other: TreeFile | undefined): boolean {
  return one === other || (one?.text === other?.text && one?.executable === other?.executable)
}

export function beyondBound(which: keyof CountedBounds, bound: number, got: number, path?: string): LandfallError {
  const what = { workspaceFileBytes: 'A file', workspaceTreeBytes: 'All files', workspaceFiles: 'The number of files' }
  const advice = path === undefined ? 'Keep less there' : `Name it in workspace.exclude (${path})`
  const message = `${what[which]} of the workspace would be beyond its bound of ${bound}. ${advice}, or raise limits.${which}.`
  return new LandfallError('LIMIT_EXCEEDED', message, {
    details: { which, bound, got, ...(path === undefined ? {} : { path }) },
  })
}

/** The files in path order, when they are within the bounds. */
export function checkedTree(files: Iterable<readonly [string, TreeFile]>, bounds: TreeBounds): Tree {
  const sorted = [...files].sort(([one], [other]) => (one < other ? -1 : 1))
  let bytes = 0
  for (const [, file] of sorted) {
    if (file.bytes > bounds.workspaceFileBytes)
      throw beyondBound('workspaceFileBytes', bounds.workspaceFileBytes, file.bytes)
    bytes += file.bytes
  }
  if (sorted.length > bounds.workspaceFiles) throw beyondBound('workspaceFiles', bounds.workspaceFiles, sorted.length)
  if (bytes > bounds.workspaceTreeBytes) throw beyondBound('workspaceTreeBytes', bounds.workspaceTreeBytes, bytes)
  return new Map(sorted)
}

/** Whether the tree has files below this path. */
export function isFolder(tree: Tree, path: string): boolean {
  if (path === '') return true
  for (const name of tree.keys()) if (name.startsWith(`${path}/`)) return true
  return false
}

/** A path that is one of a file and has files below it, which no folder can hold; null when there is none. */
export function fileAndFolder(files: ReadonlyMap<string, TreeFile>): string | null {
  // With the least character between names, what is below a path comes right behind it.
  const sorted = [...files.keys()].map((path) => path.replaceAll('/', '\0')).sort()
  const at = sorted.findIndex((path, index) => sorted[index + 1]?.startsWith(`${path}\0`))
  return sorted[at]?.replaceAll('\0', '/') ?? null
}

/** The same tree has the same digest, wherever it is: `sha256:<hex>` over paths, modes and texts. */
export function treeDigest(tree: Tree): string {
  const hash = createHash('sha256')
  for (const [path, file] of tree) hash.update(JSON.stringify([path, file.executable, file.bytes])).update(file.text)
  return `sha256:${hash.digest('hex')}`
}
