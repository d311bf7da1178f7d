import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lineChanges } from '../../src/workspace/line-diff.ts'
import { patchOf } from '../../src/workspace/patch.ts'
import { type Tree, type TreeFile, textFile } from '../../src/workspace/tree.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-patch-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Files = Readonly<Record<string, string | { readonly text: string; readonly executable: true }>>

function treeOf(files: Files): Tree {
  const made = Object.entries(files).map(([path, file]): [string, TreeFile] => [
    path,
    typeof file === 'string' ? textFile(file, false) : textFile(file.text, file.executable),
  ])
  return new Map(made.sort(([one], [other]) => (one < other ? -1 : 1)))
}

function writeTree(tree: Tree, root: string): void {
  for (const [path, file] of tree) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), file.text)
    chmodSync(join(root, path), file.executable ? 0o755 : 0o644)
  }
}

function readTree(root: string, at = ''): Map<string, TreeFile> {
  const found = new Map<string, TreeFile>()
  for (const entry of readdirSync(join(root, at), { withFileTypes: true })) {
    const path = at === '' ? entry.name : `${at}/${entry.name}`
    if (entry.isDirectory()) for (const [name, file] of readTree(root, path)) found.set(name, file)
    else
      found.set(path, textFile(readFileSync(join(root, path), 'utf8'), (statSync(join(root, path)).mode & 0o100) !== 0))
  }
  return found
}

/** Git itself is the judge: what it makes of the old tree with the patch must be the new tree. */
function applied(before: Tree, patch: string): Tree {
  const root = mkdtempSync(join(folder, 'tree-'))
  writeTree(before, root)
  if (patch !== '') execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: root, input: patch })
  return readTree(root)
}

const sorted = (tree: Tree) => [...tree].sort(([one], [other]) => (one < other ? -1 : 1))
function sameAfterApply(before: Tree, after: Tree): void {
  expect(sorted(applied(before, patchOf(before, after)))).toEqual(sorted(after))
}

describe('a patch', () => {
  it.each<[string, Files, Files]>([
    ['of nothing', { a: 'x\n' }, { a: 'x\n' }],
    ['of a new file', {}, { 'sub/a.txt': 'one\ntwo\n' }],
    ['of a new empty file', { a: 'x\n' }, { a: 'x\n', b: '' }],
    ['of a new program', {}, { run: { text: '#!/bin/sh\n', executable: true } }],
    ['of a deleted file', { 'sub/a.txt': 'one\n', b: 'x\n' }, { b: 'x\n' }],
    ['of a deleted empty file', { a: '', b: 'x\n' }, { b: 'x\n' }],
    ['of a file that became empty', { a: 'x\ny' }, { a: '' }],
    ['of a renamed file', { 'old name': 'x\ny\n' }, { 'new/name': 'x\ny\n' }],
    ['of a mode', { run: 'x\n' }, { run: { text: 'x\n', executable: true } }],
    ['of a mode and text', { run: 'x\n' }, { run: { text: 'y\n', executable: true } }],
    ['of a newline that goes', { a: 'x\ny\n' }, { a: 'x\ny' }],
    ['of a newline that comes', { a: 'x\ny' }, { a: 'x\ny\n' }],
    ['without a newline on either side', { a: 'x\ny' }, { a: 'x\nz' }],
    ['of names with blanks and other scripts', { 'a b/ü 名.txt': 'x\n' }, { 'a b/ü 名.txt': 'y\n', 'c d': 'z' }],
    ['of lines that end otherwise', { a: 'x\r\ny\r\n' }, { a: 'x\r\nz\r\n' }],
    ['of a file that became a folder', { a: 'x\n' }, { 'a/b': 'y\n' }],
  ])('%s is what git apply takes', (_name, before, after) => {
    sameAfterApply(treeOf(before), treeOf(after))
  })

  it('of nothing is empty, and of a rename says so', () => {
    expect(patchOf(treeOf({ a: 'x' }), treeOf({ a: 'x' }))).toBe('')
    expect(patchOf(treeOf({ a: 'x\n' }), treeOf({ b: 'x\n' }))).toContain('rename from a\nrename to b\n')
  })

  it('has the surroundings of each change, and joins those that touch', () => {
    const lines = Array.from({ length: 60 }, (_, at) => `line ${at}\n`)
    const other = lines.with(10, 'changed\n').with(13, 'changed\n').with(40, 'changed\n')
    const patch = patchOf(treeOf({ a: lines.join('') }), treeOf({ a: other.join('') }))
    expect(patch.match(/^@@ .*$/gm)).toEqual(['@@ -8,10 +8,10 @@', '@@ -38,7 +38,7 @@'])
    sameAfterApply(treeOf({ a: lines.join('') }), treeOf({ a: other.join('') }))
  })

  it('of a text that is another one altogether is one replacement', () => {
    const long = (word: string) => Array.from({ length: 3_000 }, (_, at) => `${word} ${at}\n`).join('')
    sameAfterApply(treeOf({ a: long('x') }), treeOf({ a: long('y') }))
  })

  it('of more than may be looked at ends with replacements, whatever number of texts that is', () => {
    const [old, fresh] = [
      ['a\n', 'b\n', 'c\n'],
      ['b\n', 'c\n', 'd\n'],
    ]
    const room = { left: 4 }
    expect(lineChanges(old, fresh, room)).toHaveLength(2)
    expect(lineChanges(old, fresh, room)).toEqual([{ from: 0, to: 3, newFrom: 0, newTo: 3 }])
    // Each of these alone is within what is looked at; together they would keep a host from everything else.
    const text = (seed: number) => Array.from({ length: 800 }, (_, at) => `${(at * at * seed) % 89}\n`).join('')
    const many = (seed: number) =>
      treeOf(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, text(seed + at)])))
    sameAfterApply(many(3), many(100))
  })

  it('turns any tree into any other', { timeout: 120_000 }, () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', '', '@@', '-x', '\\ y'))
      .chain((lines) => fc.boolean().map((ends) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : '')))
    const file = fc.oneof(text, fc.record({ text, executable: fc.constant(true as const) }))
    const files = fc.dictionary(fc.constantFrom('a', 'b b', 'd/e', 'd/f', 'ü'), file, { maxKeys: 5 })
    fc.assert(
      fc.property(files, files, (before, after) => {
        sameAfterApply(treeOf(before), treeOf(after))
      }),
      { numRuns: 60, seed: 11 },
    )
  })
})

describe('the changes between two lists of lines', () => {
  it('turn one into the other and are the fewest', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 24 })
    fc.assert(
      fc.property(lines, lines, (old, fresh) => {
        const changes = lineChanges(old, fresh)
        const made: string[] = []
        let at = 0
        for (const { from, to, newFrom, newTo } of changes) {
          made.push(...old.slice(at, from), ...fresh.slice(newFrom, newTo))
          at = to
        }
        expect([...made, ...old.slice(at)]).toEqual(fresh)
        const edits = changes.reduce((sum, { from, to, newFrom, newTo }) => sum + to - from + newTo - newFrom, 0)
        expect(edits).toBe(old.length + fresh.length - 2 * longestShared(old, fresh))
      }),
      { numRuns: 300, seed: 5 },
    )
  })
})

/** Length of the longest common subsequence, by the table of the textbook. */
function longestShared(old: readonly string[], fresh: readonly string[]): number {
  let row = new Array<number>(fresh.length + 1).fill(0)
  for (const line of old) {
    const next = [0]
    for (const [at, other] of fresh.entries())
      next.push(line === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0))
    row = next
  }
  return row.at(-1) ?? 0
}
