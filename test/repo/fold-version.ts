import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the folded state is made of: the fold, every chart and reducer that it reaches, and how the state is written down. */
export const foldEntries = ['machines/fold.ts', 'src/runtime/world-snapshot.ts'] as const

export interface RecordedFold {
  readonly version: number
  readonly digest: string
}

/** Sources that these entries import, by path, themselves included. Types are left out: they change nothing that runs. */
export function sourcesOf(root: string, entries: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path) || !existsSync(join(root, path))) return
    found.add(path)
    const text = readFileSync(join(root, path), 'utf8')
    for (const [, from = ''] of text.matchAll(/^(?:import|export)(?! type)[^'"]*?from '(\.[^']+)'/gm))
      visit(join(dirname(path), from))
  }
  for (const entry of entries) visit(entry)
  return [...found].sort()
}

/** One digest of what runs: comments, layout and the version itself are no part of it. */
export function digestOf(sources: readonly { readonly path: string; readonly text: string }[]): string {
  const hash = createHash('sha256')
  for (const { path, text } of sources) hash.update(`${path}\n${codeOf(text)}\n`)
  return hash.digest('hex')
}

function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/foldVersion = \d+/, 'foldVersion')
    .replace(/\s+/g, ' ')
}

/** What to say about the present sources, given what was recorded. Null: they are the recorded ones. */
export function foldProblem(recorded: RecordedFold, now: RecordedFold): string | null {
  if (now.version < recorded.version) return `foldVersion went back from ${recorded.version} to ${now.version}`
  if (now.digest === recorded.digest)
    return now.version === recorded.version ? null : 'foldVersion was counted up and nothing that folds has changed'
  return now.version === recorded.version
    ? `the fold has changed: count foldVersion up to ${recorded.version + 1}, then UPDATE=1 records it`
    : 'the fold and foldVersion have changed: UPDATE=1 records them'
}

/** A change is recorded only together with a version that was counted up. */
export function mayRecord(recorded: RecordedFold, now: RecordedFold): boolean {
  return now.version > recorded.version
}
