import { createHash } from 'node:crypto'
import { type LineChange, lineChanges, type SearchRoom, searchRoom } from './line-diff.ts'
import { isSameFile, type Tree, type TreeFile } from './tree.ts'

const contextLines = 3

/** What changed between two trees, as a patch that `git apply` takes; empty when nothing did. */
export function patchOf(before: Tree, after: Tree): string {
  const renames = renamesOf(before, after)
  const targets = new Set(renames.values())
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  const parts: string[] = []
  const room = searchRoom()
  for (const path of paths) {
    const target = renames.get(path)
    if (target !== undefined) parts.push(renamed(path, target))
    else if (!targets.has(path)) parts.push(changed(path, before.get(path), after.get(path), room))
  }
  return parts.join('')
}

/** A file that is gone and has appeared under another name, unchanged. Empty files are all alike, and tell nothing. */
function renamesOf(before: Tree, after: Tree): ReadonlyMap<string, string> {
  const keyOf = (file: TreeFile) => `${file.executable}\u0000${file.text}`
  const gone = new Map<string, string>()
  for (const [path, file] of before) if (!after.has(path) && file.bytes > 0) gone.set(keyOf(file), path)
  const renames = new Map<string, string>()
  for (const [path, file] of after) {
    if (before.has(path)) continue
    const from = gone.get(keyOf(file))
    if (from === undefined) continue
    renames.set(from, path)
    gone.delete(keyOf(file))
  }
  return renames
}

function renamed(from: string, to: string): string {
  const [old, fresh] = [inHeader(from), inHeader(to)]
  return `${header(from, to)}\nsimilarity index 100%\nrename from ${old}\nrename to ${fresh}\n`
}

/** Git reads the two names of a header without quotes wrongly where a folder or the name itself ends with a blank. */
function inHeader(name: string): string {
  return / (\/|$)/.test(name) ? `"${name}"` : name
}

function header(from: string, to: string): string {
  return `diff --git ${inHeader(`a/${from}`)} ${inHeader(`b/${to}`)}`
}

const modeOf = (file: TreeFile): string => (file.executable ? '100755' : '100644')

function changed(path: string, old: TreeFile | undefined, fresh: TreeFile | undefined, room: SearchRoom): string {
  if (isSameFile(old, fresh)) return ''
  const lines = [header(path, path)]
  if (old === undefined && fresh !== undefined) lines.push(`new file mode ${modeOf(fresh)}`)
  if (fresh === undefined && old !== undefined) lines.push(`deleted file mode ${modeOf(old)}`)
  if (old !== undefined && fresh !== undefined && old.executable !== fresh.executable)
    lines.push(`old mode ${modeOf(old)}`, `new mode ${modeOf(fresh)}`)
  const hunks = hunksOf(old?.text ?? '', fresh?.text ?? '', room)
  if (old?.text !== fresh?.text) lines.push(`index ${blobId(old)}..${blobId(fresh)}`)
  if (hunks.length > 0) {
    lines.push(old === undefined ? '--- /dev/null' : `--- ${beforeHunk(`a/${path}`)}`)
    lines.push(fresh === undefined ? '+++ /dev/null' : `+++ ${beforeHunk(`b/${path}`)}`)
  }
  return `${[...lines, ...hunks].join('\n')}\n`
}

/** A tab ends a name with blanks that has no quotes, as git itself writes it. */
function beforeHunk(name: string): string {
  const told = inHeader(name)
  return told === name && name.includes(' ') ? `${name}\t` : told
}

/** The name that git has for a file's content, zeros for none. */
function blobId(file: TreeFile | undefined): string {
  if (file === undefined) return '0'.repeat(40)
  return createHash('sha1').update(`blob ${file.bytes}\0`).update(file.text).digest('hex')
}

/** Lines with their ends; only the last can be without one. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  const ended = lines.map((line) => `${line}\n`)
  return last === '' ? ended : [...ended, last]
}

function hunksOf(before: string, after: string, room: SearchRoom): readonly string[] {
  if (before === after) return []
  const old = linesOf(before)
  const fresh = linesOf(after)
  return grouped(lineChanges(old, fresh, room)).flatMap((group) => hunk(old, fresh, group))
}

/** Changes whose surroundings touch are told in one piece. */
function grouped(changes: readonly LineChange[]): readonly (readonly LineChange[])[] {
  const groups: LineChange[][] = []
  for (const change of changes) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (group !== undefined && last !== undefined && change.from - last.to <= 2 * contextLines) group.push(change)
    else groups.push([change])
  }
  return groups
}

function hunk(old: readonly string[], fresh: readonly string[], group: readonly LineChange[]): readonly string[] {
  const first = group[0]
  const last = group.at(-1)
  if (first === undefined || last === undefined) return []
  const from = Math.max(0, first.from - contextLines)
  const to = Math.min(old.length, last.to + contextLines)
  const newFrom = first.newFrom - (first.from - from)
  const newTo = last.newTo + (to - last.to)
  const body: string[] = []
  const say = (mark: string, lines: readonly string[]) => {
    for (const line of lines)
      body.push(...(line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, '\\ No newline at end of file']))
  }
  let at = from
  for (const change of group) {
    say(' ', old.slice(at, change.from))
    say('-', old.slice(change.from, change.to))
    say('+', fresh.slice(change.newFrom, change.newTo))
    at = change.to
  }
  say(' ', old.slice(at, to))
  return [`@@ -${range(from, to)} +${range(newFrom, newTo)} @@`, ...body]
}

function range(from: number, to: number): string {
  const count = to - from
  const start = count === 0 ? from : from + 1
  return count === 1 ? `${start}` : `${start},${count}`
}
