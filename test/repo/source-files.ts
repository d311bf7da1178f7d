import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repoRoot = fileURLToPath(new URL('../../', import.meta.url))

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

const generated = new Set(['node_modules', 'dist', 'coverage', '.git'])

function walk(folder: string, found: string[]): string[] {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (generated.has(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) walk(path, found)
    else if (entry.isFile()) found.push(path)
  }
  return found
}

/** Files under the given folders (the whole repository when none is named) whose names end in `ending`, in a fixed order. */
export function sourceFiles(ending: RegExp, ...folders: string[]): SourceFile[] {
  return walk(repoRoot, [])
    .map((path) => relative(repoRoot, path).replaceAll('\\', '/'))
    .filter((path) => ending.test(path) && (folders.length === 0 || folders.some((f) => path.startsWith(`${f}/`))))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(repoRoot, path), 'utf8') }))
}

/** All code that ships. */
export function productFiles(): SourceFile[] {
  return sourceFiles(/\.tsx?$/, 'machines', 'src')
}

/** All code, tests included. */
export function allCode(): SourceFile[] {
  return sourceFiles(/\.tsx?$/, 'machines', 'src', 'test', 'model-tests')
}
