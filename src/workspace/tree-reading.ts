import { LandfallError } from '../facts/errors.ts'
import { isolationRequired } from './attestation.ts'
import { leftOutPath, type SourceOutline } from './left-out.ts'
import { patchOf } from './patch.ts'
import { boundedOutput, checkRange, readWindow } from './read-window.ts'
import { isFolder, isSameFile, type Tree } from './tree.ts'
import type { DiffResult, ListEntry, ListResult, ReadBounds, ReadRange, ReadResult, Workspace } from './workspace.ts'
import { pathParts } from './workspace-path.ts'

export function notThere(): LandfallError {
  return new LandfallError('NOT_FOUND', 'There is nothing at this path. List its folder to see what is.')
}

/** A tree to be read, and what is known beside it. */
export interface ReadableTree {
  readonly tree: Tree
  readonly outline: SourceOutline
  readonly bounds: ReadBounds
}

/** Reads a file of a tree in memory, as `fs.read` of a folder does. */
export async function readTree(of: ReadableTree, path: string, range: ReadRange): Promise<ReadResult> {
  const { tree, outline, bounds } = of
  checkRange(range)
  const name = pathParts(path, bounds.pathChars).join('/')
  const file = tree.get(name)
  if (file === undefined) {
    if (outline.hasLeftOut(name)) throw leftOutPath()
    if (!isFolder(tree, name)) throw notThere()
    throw new LandfallError('INVALID_ARGUMENTS', 'This is a folder. List it instead.')
  }
  const bytes = Buffer.from(file.text)
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length)
  return readWindow({ size: bytes.length, read }, { path: name, range, outputBytes: bounds.outputBytes })
}

export function listTree({ tree, outline, bounds }: ReadableTree, path: string): ListResult {
  const folder = pathParts(path, bounds.pathChars).join('/')
  if (tree.has(folder)) throw new LandfallError('INVALID_ARGUMENTS', 'This is a file. Read it instead.')
  if (outline.hasLeftOut(folder)) throw leftOutPath()
  const unlisted = outline.leftOut.get(folder)?.count ?? 0
  if (!isFolder(tree, folder) && unlisted === 0) throw notThere()
  const start = folder === '' ? '' : `${folder}/`
  const found = new Map<string, ListEntry['type']>()
  for (const name of tree.keys()) {
    if (!name.startsWith(start)) continue
    const rest = name.slice(start.length)
    const slash = rest.indexOf('/')
    found.set(slash < 0 ? rest : rest.slice(0, slash), slash < 0 ? 'file' : 'directory')
  }
  const entries = [...found].map(([name, type]) => ({ name, type })).sort((a, b) => (a.name < b.name ? -1 : 1))
  return boundedOutput({ path: folder || '.', entries, unlisted }, bounds.outputBytes)
}

/** A tree that can only be read, where no sandbox is to be had. It is not attested. */
export function treeWorkspace(initial: Tree, of: ReadableTree): Workspace {
  return {
    isolation: 'none',
    read: (path, range = {}) => readTree(of, path, range),
    list: async (path) => listTree(of, path),
    diff: async () => diffOf(initial, of.tree, of.bounds.outputBytes),
    write: () => Promise.reject(isolationRequired()),
    exec: () => Promise.reject(isolationRequired()),
  }
}

export function diffOf(initial: Tree, current: Tree, bound: number): DiffResult {
  return boundedOutput({ diff: patchOf(initial, current), files: changedPaths(initial, current) }, bound)
}

export function changedPaths(before: Tree, after: Tree): number {
  let changed = 0
  for (const [path, file] of after) if (!isSameFile(before.get(path), file)) changed += 1
  for (const path of before.keys()) if (!after.has(path)) changed += 1
  return changed
}
