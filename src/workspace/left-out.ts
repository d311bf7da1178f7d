import { LandfallError } from '../facts/errors.ts'
import type { Tree } from './tree.ts'

/** What of one folder of a source was not copied. */
export interface LeftOutFolder {
  /** How many entries, also of those that no path can name. */
  readonly count: number
  /** The names that are taken; null: more than are kept, so that only what was copied may be named in the folder. */
  readonly names: readonly string[] | null
}

/** By folder. A folder that is named here is one in the source, whatever of it was copied. */
export type LeftOut = ReadonlyMap<string, LeftOutFolder>

export const nothingLeftOut: LeftOut = new Map()

export function leftOutPath(): LandfallError {
  const message =
    'The folder that the workspace is a copy of has something at this path that was not copied, so that nothing can be read or put there. Name another path.'
  return new LandfallError('WORKSPACE_LEFT_OUT', message)
}

export function countLeftOut(leftOut: LeftOut): number {
  let sum = 0
  for (const { count } of leftOut.values()) sum += count
  return sum
}

/**
 * Owns: what is known of a source beside its text files, in a form to ask.
 * 1. A new file is free to be at a path only if a patch that makes it can be applied to the source: nothing that was left out is
 *    there, above it or below it.
 */
export class SourceOutline {
  readonly #leftOut: LeftOut
  readonly #initial: Tree
  readonly #names = new Map<string, ReadonlySet<string> | null>()

  constructor(leftOut: LeftOut, initial: Tree) {
    this.#leftOut = leftOut
    this.#initial = initial
    for (const [folder, { names }] of leftOut) this.#names.set(folder, names === null ? null : new Set(names))
  }

  get leftOut(): LeftOut {
    return this.#leftOut
  }

  /** Whether the path is one that was left out, or is below one. */
  hasLeftOut(path: string): boolean {
    return withParents(path).some((each) => this.#names.get(parentOf(each))?.has(each.slice(each.lastIndexOf('/') + 1)))
  }

  isFree(path: string): boolean {
    // A folder of which something is not in the tree cannot become a file.
    if (isAtOrBelow(this.#leftOut.keys(), path) || this.hasLeftOut(path)) return false
    const inFull = withParents(path).filter((each) => this.#names.get(parentOf(each)) === null)
    return inFull.every((each) => isAtOrBelow(this.#initial.keys(), each))
  }
}

/** Whether one of the paths is this one or below it. */
function isAtOrBelow(paths: Iterable<string>, path: string): boolean {
  for (const each of paths) if (each === path || each.startsWith(`${path}/`)) return true
  return false
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** The path and each folder above it but the root. */
function withParents(path: string): readonly string[] {
  const all: string[] = path === '' ? [] : [path]
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) all.push(path.slice(0, at))
  return all
}
