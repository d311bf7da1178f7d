import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../src/facts/limits.ts'
import { copySource } from '../../src/workspace/copy-source.ts'
import { type IsolatedWorkspace, isolatedWorkspace } from '../../src/workspace/isolated-workspace.ts'
import { leftOutPath } from '../../src/workspace/left-out.ts'
import type { Sandbox } from '../../src/workspace/sandbox.ts'
import { type Tree, type TreeFile, textFile } from '../../src/workspace/tree.ts'

const calm = { signal: new AbortController().signal }
const base = mkdtempSync(join(tmpdir(), 'landfall-applies-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let source: string
beforeEach(() => {
  source = mkdtempSync(join(base, 'source-'))
})

/** What a source has at a path. */
type Entry =
  | { readonly kind: 'text'; readonly text: string; readonly executable: boolean }
  | { readonly kind: 'binary' | 'folder' | 'link' | 'pipe' }

function put(root: string, path: string, entry: Entry): void {
  const place = join(root, path)
  mkdirSync(entry.kind === 'folder' ? place : dirname(place), { recursive: true })
  if (entry.kind === 'text') {
    writeFileSync(place, entry.text)
    chmodSync(place, entry.executable ? 0o755 : 0o644)
  }
  if (entry.kind === 'binary') writeFileSync(place, Buffer.from([1, 0, 2]))
  if (entry.kind === 'link') symlinkSync('nowhere', place)
  if (entry.kind === 'pipe') execFileSync('mkfifo', [place])
}

/** Everything below a folder, folders with nothing in them too. */
function everything(root: string, at = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(join(root, at))) {
    const path = at === '' ? name : `${at}/${name}`
    const stat = lstatSync(join(root, path))
    if (stat.isDirectory()) {
      const below = everything(root, path)
      if (below.size === 0) found.set(path, 'folder')
      for (const [each, what] of below) found.set(each, what)
    } else if (stat.isFile())
      found.set(path, `${(stat.mode & 0o100) !== 0} ${readFileSync(join(root, path)).toString('hex')}`)
    else found.set(path, stat.isSymbolicLink() ? `link ${readlinkSync(join(root, path))}` : 'other')
  }
  return found
}

const shown = (file: TreeFile) => `${file.executable} ${Buffer.from(file.text).toString('hex')}`

/** A sandbox whose program is a function from tree to tree. */
function workspaceOn(copied: Awaited<ReturnType<typeof copySource>>): {
  of: IsolatedWorkspace
  become: (tree: Tree) => Promise<boolean>
} {
  let next: Tree = new Map()
  const sandbox: Sandbox = {
    isolation: 'bubblewrap',
    report: async () => ({ works: true, detail: '', bounds: [] }),
    run: async () => ({ exitCode: 0, stdout: '', stderr: '', tree: next }),
  }
  const of = isolatedWorkspace({ initial: copied.tree, leftOut: copied.leftOut, sandbox, bounds: limits })
  const become = async (tree: Tree) => {
    next = new Map([...tree].sort(([one], [other]) => (one < other ? -1 : 1)))
    return of.workspace.exec({ argv: ['x'] }, calm).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'WORKSPACE_LEFT_OUT' })
        return false
      },
    )
  }
  return { of, become }
}

/** Git is the judge: the patch is taken, and makes of the source what the workspace is, with what was left out untouched. */
function appliesTo(root: string, of: IsolatedWorkspace): void {
  const target = mkdtempSync(join(base, 'target-'))
  execFileSync('cp', ['-a', `${root}/.`, target])
  const before = everything(target)
  const patch = of.patch()
  if (patch !== '') {
    const git = (...words: string[]) =>
      execFileSync('git', ['apply', '--whitespace=nowarn', ...words, '-'], { cwd: target, input: patch, stdio: 'pipe' })
    git('--check')
    git()
  }
  const after = new Map([...everything(target)].filter(([, what]) => what !== 'folder'))
  const expected = new Map([...before].filter(([path, what]) => what !== 'folder' && !of.initial.has(path)))
  for (const [path, file] of of.current()) expected.set(path, shown(file))
  expect(new Map([...after].sort())).toEqual(new Map([...expected].sort()))
  rmSync(target, { recursive: true })
}

describe('what a source has and a workspace has not', () => {
  const sample = async () => {
    put(source, 'a.txt', { kind: 'text', text: 'a\n', executable: false })
    put(source, 'logo.png', { kind: 'binary' })
    put(source, 'images/one', { kind: 'binary' })
    put(source, 'empty/in', { kind: 'folder' })
    put(source, 'node_modules/x/index.js', { kind: 'text', text: '', executable: false })
    put(source, 'lib/b.txt', { kind: 'text', text: 'b\n', executable: false })
    put(source, 'lib/.git/HEAD', { kind: 'text', text: 'ref\n', executable: false })
    put(source, 'lib/to', { kind: 'link' })
    put(source, 'lib/pipe', { kind: 'pipe' })
    return workspaceOn(await copySource(source, limits))
  }
  const taken = [
    'logo.png',
    'logo.png/x',
    'images',
    'images/one',
    'images/one/x',
    'empty',
    'empty/in',
    'node_modules',
    'node_modules/x',
    'node_modules/new.js',
    'lib/to',
    'lib/to/x',
    'lib/pipe',
  ]
  const free = ['logo.png.txt', 'images/two', 'empty/in/x', 'empty/y', 'node_module', 'lib/c.txt', 'new/node_modules/x']

  it('is no place to write to, with a code of its own', async () => {
    const { of } = await sample()
    for (const path of taken)
      await expect(of.workspace.write(path, 'x'), path).rejects.toMatchObject({ code: 'WORKSPACE_LEFT_OUT' })
    expect(of.current()).toBe(of.initial)
    for (const path of free) expect(await of.workspace.write(path, `${path}\n`)).toMatchObject({ created: true })
    appliesTo(source, of)
  })

  it('is told apart from nothing when it is read or listed', async () => {
    const { of } = await sample()
    const refused = { code: 'WORKSPACE_LEFT_OUT' }
    for (const path of ['logo.png', 'node_modules', 'node_modules/x/index.js', 'lib/to']) {
      await expect(of.workspace.read(path)).rejects.toMatchObject(refused)
      await expect(of.workspace.list(path)).rejects.toMatchObject(refused)
    }
    await expect(of.workspace.read('gone')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await of.workspace.list('.')).toMatchObject({ unlisted: 2 })
    expect(await of.workspace.list('images')).toMatchObject({ entries: [], unlisted: 1 })
  })

  it('makes a program fail that leaves a file there, which says which; nothing of it is kept', async () => {
    const { of, become } = await sample()
    for (const path of taken)
      expect(await become(new Map([...of.initial, [path, textFile('x', false)]])), path).toBe(false)
    const failed = of.workspace.exec({ argv: ['x'] }, calm)
    await expect(failed).rejects.toThrow(`${leftOutPath().message} It is about "lib/pipe"`)
    expect(of.current()).toBe(of.initial)
    expect(await become(new Map(free.map((path) => [path, textFile(`${path}\n`, false)])))).toBe(true)
    appliesTo(source, of)
    // A folder of which all text files are gone still is one when it has something else.
    expect(await become(new Map([['lib', textFile('x', false)]]))).toBe(false)
    expect(await become(new Map([['a.txt/b', textFile('x', false)]]))).toBe(true)
    appliesTo(source, of)
  })

  it('is not named one by one where it is very much; then the folder takes nothing new', async () => {
    put(source, 'many/kept.txt', { kind: 'text', text: 'k\n', executable: false })
    put(source, 'many/sub/kept.txt', { kind: 'text', text: 'k\n', executable: false })
    put(source, 'other/images/only', { kind: 'binary' })
    for (let at = 0; at < 1_001; at += 1) put(source, `many/${at}.png`, { kind: 'binary' })
    for (let at = 0; at < 1_001; at += 1) put(source, `other/images/${at}.png`, { kind: 'binary' })
    const copied = await copySource(source, limits)
    expect([...copied.leftOut]).toEqual([
      ['many', { count: 1_001, names: null }],
      ['other', { count: 0, names: [] }],
      ['other/images', { count: 1_002, names: null }],
    ])
    const { of } = workspaceOn(copied)
    for (const path of [
      'many/new.txt',
      'many/new/a.txt',
      'other/images/new.txt',
      'other/images',
      'other',
      'many/7.png',
    ])
      await expect(of.workspace.write(path, 'x'), path).rejects.toMatchObject({ code: 'WORKSPACE_LEFT_OUT' })
    for (const path of ['many/kept.txt', 'many/sub/new.txt', 'other/new.txt', 'new.txt'])
      expect(await of.workspace.write(path, 'x\n'), path).toMatchObject({ bytes: 2 })
    appliesTo(source, of)
  })
})

const names = ['a', 'b b', ' c', 'd ', 'ü 名', 'node_modules', '-x']
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }).map((parts) => parts.join('/'))
const text = fc
  .array(fc.constantFrom('x', 'y', '', '\\ No newline', '--- a/a', '+++ b/a', 'x\r', 'ü'), { maxLength: 8 })
  .chain((lines) => fc.boolean().map((ends) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : '')))
const textEntry = fc.record({ kind: fc.constant('text' as const), text, executable: fc.boolean() })
const otherEntry = fc.record({ kind: fc.constantFrom('binary', 'folder', 'link') })
const entry: fc.Arbitrary<Entry> = fc.oneof({ weight: 1, arbitrary: textEntry }, otherEntry)

type Edit =
  | { readonly how: 'write'; readonly path: string; readonly text: string; readonly executable: boolean }
  | { readonly how: 'remove'; readonly at: number }
  | { readonly how: 'move'; readonly at: number; readonly to: string }
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ how: fc.constant('write' as const), path, text, executable: fc.boolean() }),
  fc.record({ how: fc.constant('remove' as const), at: fc.nat(20) }),
  fc.record({ how: fc.constant('move' as const), at: fc.nat(20), to: path }),
)

/** As a file system would have it: what is in the way of a new file goes. */
function placed(tree: Tree, path: string, file: TreeFile): Tree {
  const inTheWay = (other: string) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`)
  return new Map([...[...tree].filter(([other]) => !inTheWay(other)), [path, file]])
}

function edited(tree: Tree, of: Edit): Tree {
  if (of.how === 'write') return placed(tree, of.path, textFile(of.text, of.executable))
  const victim = [...tree][of.at % Math.max(1, tree.size)]
  if (victim === undefined) return tree
  const without = new Map([...tree].filter(([path]) => path !== victim[0]))
  return of.how === 'remove' ? without : placed(without, of.to, victim[1])
}

describe('the patch of any work on any source', () => {
  it('is taken by git apply, and gives what the workspace is', { timeout: 120_000 }, async () => {
    let refused = 0
    let changed = 0
    const source = fc.array(fc.tuple(path, entry), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(source, fc.array(edit, { maxLength: 8 }), async (entries, edits) => {
        const root = mkdtempSync(join(base, 'random-'))
        const made = new Set<string>()
        for (const [path, what] of entries) {
          const clashes = [...made].some((other) => `${other}/`.startsWith(`${path}/`) || path.startsWith(`${other}/`))
          if (!clashes) put(root, path, what)
          made.add(path)
        }
        const { of, become } = workspaceOn(await copySource(root, limits))
        for (const each of edits) {
          const next = edited(of.current(), each)
          const isWrite = each.how === 'write' && !each.executable && next.size === of.current().size + 1
          const took = isWrite
            ? await of.workspace.write(each.path, each.text).then(
                () => true,
                (error: unknown) => {
                  expect(error).toMatchObject({ code: 'WORKSPACE_LEFT_OUT' })
                  return false
                },
              )
            : await become(next)
          if (took) changed += 1
          else refused += 1
        }
        appliesTo(root, of)
        rmSync(root, { recursive: true })
      }),
      { numRuns: 100, seed: 7 },
    )
    // What is not refused and what is both are looked at.
    expect(refused).toBeGreaterThan(20)
    expect(changed).toBeGreaterThan(200)
  })

  it('is taken in a repository with what is not committed', async () => {
    put(source, 'a.txt', { kind: 'text', text: 'one\ntwo\n', executable: false })
    put(source, 'logo.png', { kind: 'binary' })
    execFileSync('git', ['init', '-q'], { cwd: source })
    const { of } = workspaceOn(await copySource(source, limits))
    await of.workspace.write('a.txt', 'one\n2\n')
    const target = mkdtempSync(join(base, 'repository-'))
    cpSync(source, target, { recursive: true })
    execFileSync('git', ['apply', '-'], { cwd: target, input: of.patch() })
    expect(readFileSync(join(target, 'a.txt'), 'utf8')).toBe('one\n2\n')
  })
})
