import { LandfallError } from '../facts/errors.ts'
import { limits } from '../facts/limits.ts'
import { isolationRequired } from './attestation.ts'
import { patchOf } from './patch.ts'
import { checkRange, outputTooLarge, readWindow, serializedBytes } from './read-window.ts'
import { isFolder, isSameFile, type Tree } from './tree.ts'
import type { DiffResult, ListEntry, ListResult, ReadRange, ReadResult, Workspace } from './workspace.ts'
import { pathParts } from './workspace-path.ts'

export function notThere(): LandfallError {
  return new LandfallError('NOT_FOUND', 'There is nothing at this path. List its folder to see what is.')
}

/** Reads a file of a tree in memory, as `fs.read` of a folder does. */
export async function readTree(tree: Tree, path: string, range: ReadRange): Promise<ReadResult> {
  checkRange(range)
  const name = pathParts(path).join('/')
  const file = tree.get(name)
  if (file === undefined) {
    if (!isFolder(tree, name)) throw notThere()
    throw new LandfallError('INVALID_ARGUMENTS', 'This is a folder. List it instead.')
  }
  const bytes = Buffer.from(file.text)
  const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length)
  return readWindow({ size: bytes.length, read }, name, range)
}

export function listTree(tree: Tree, path: string, leftOut: ReadonlyMap<string, number>): ListResult {
  const folder = pathParts(path).join('/')
  if (tree.has(folder)) throw new LandfallError('INVALID_ARGUMENTS', 'This is a file. Read it instead.')
  const unlisted = leftOut.get(folder) ?? 0
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
  const result = { path: folder || '.', entries, unlisted }
  const got = serializedBytes(result)
  if (got > limits.outputBytes) throw outputTooLarge(got)
  return result
}

/** A tree that can only be read, where no sandbox is to be had. It is not attested. */
export function treeWorkspace(initial: Tree, current: Tree, leftOut: ReadonlyMap<string, number>): Workspace {
  return {
    isolation: 'none',
    read: (path, range = {}) => readTree(current, path, range),
    list: async (path) => listTree(current, path, leftOut),
    diff: async () => diffOf(initial, current, limits.outputBytes),
    write: () => Promise.reject(isolationRequired()),
    exec: () => Promise.reject(isolationRequired()),
  }
}

export function diffOf(initial: Tree, current: Tree, bound: number): DiffResult {
  const result = { diff: patchOf(initial, current), files: changedPaths(initial, current) }
  const got = serializedBytes(result)
  if (got > bound) throw outputTooLarge(got)
  return result
}

export function changedPaths(before: Tree, after: Tree): number {
  let changed = 0
  for (const [path, file] of after) if (!isSameFile(before.get(path), file)) changed += 1
  for (const path of before.keys()) if (!after.has(path)) changed += 1
  return changed
}
