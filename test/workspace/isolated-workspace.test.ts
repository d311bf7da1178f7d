import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineTool, toolContract } from '../../src/capabilities/define-tool.ts'
import { nativeTools } from '../../src/capabilities/native-tools.ts'
import { limits } from '../../src/facts/limits.ts'
import { copySource } from '../../src/workspace/copy-source.ts'
import { isolatedWorkspace } from '../../src/workspace/isolated-workspace.ts'
import type { Sandbox, SandboxEnd, SandboxRun } from '../../src/workspace/sandbox.ts'
import { type Tree, textFile } from '../../src/workspace/tree.ts'
import { toolContext } from '../capabilities/tool-context.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-copy-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const calm = { signal: new AbortController().signal }

/** The sandbox is what the contract suites look at; here its program is a function. */
function sandboxOf(run: (of: SandboxRun) => Partial<SandboxEnd>): Sandbox {
  return {
    isolation: 'bubblewrap',
    report: async () => ({ works: true, detail: '', unenforced: [] }),
    run: async (of) => ({ exitCode: 0, stdout: '', stderr: '', tree: of.tree, ...run(of) }),
  }
}

const workspaceOf = (initial: Tree, run: (of: SandboxRun) => Partial<SandboxEnd> = () => ({})) =>
  isolatedWorkspace({ initial, sandbox: sandboxOf(run), bounds: limits })
const small: Tree = new Map([
  ['a.txt', textFile('hello', false)],
  ['dir/b.txt', textFile('below', false)],
])

/** Root may read everything, so that what may not be read is looked at as nobody. */
async function asSomebodyElse(look: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return look()
  process.seteuid?.(65_534)
  try {
    await look()
  } finally {
    process.seteuid?.(0)
  }
}

describe('a copy of a source', () => {
  const put = (path: string, text: string | Buffer) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }

  it('has the text files of the folder, and names what it leaves out, folder by folder', async () => {
    put('a.txt', 'x')
    put('sub/ü.txt', 'y')
    put('sub/image', Buffer.from([1, 0, 2]))
    put('sub/damaged', Buffer.from([0xff]))
    put('sub/one', 'linked')
    linkSync(join(folder, 'sub/one'), join(folder, 'sub/two'))
    symlinkSync('/etc/passwd', join(folder, 'link'))
    symlinkSync('/etc', join(folder, 'etc'))
    put('a:b', 'no path can name this')
    put('.git/config', 'never')
    put('node_modules/x/index.js', 'never')
    const { tree, leftOut } = await copySource(folder, limits)
    expect([...tree.keys()]).toEqual(['a.txt', 'sub/ü.txt'])
    expect([...leftOut]).toEqual([
      ['', { count: 4, names: ['etc', 'link', 'node_modules'] }],
      ['sub', { count: 4, names: ['damaged', 'image', 'one', 'two'] }],
    ])
    const of = isolatedWorkspace({ initial: tree, leftOut, sandbox: sandboxOf(() => ({})), bounds: limits })
    expect(await of.workspace.list('sub')).toEqual({
      path: 'sub',
      entries: [{ name: 'ü.txt', type: 'file' }],
      unlisted: 4,
    })
  })

  it('counts a folder that it may not read like a file of that kind', async () => {
    put('a.txt', 'x')
    put('closed/in/b.txt', 'y')
    chmodSync(folder, 0o755)
    chmodSync(join(folder, 'closed'), 0o700)
    const closed = join(folder, 'closed', 'in')
    chmodSync(closed, 0)
    await asSomebodyElse(async () => {
      const { tree, leftOut } = await copySource(folder, limits)
      expect([...tree.keys()]).toEqual(['a.txt'])
      expect([...leftOut.entries()]).toEqual([['', { count: 1, names: ['closed'] }]])
    })
    chmodSync(closed, 0o700)
  })

  it('leaves out what is no text however big it is, and names the text that is too big', async () => {
    const big = Buffer.alloc(2 * limits.workspaceFileBytes, 'x')
    put('a.txt', 'x')
    put('late', big)
    for (const [name, tail] of [
      ['latin', [0xe4, 0x20]],
      ['binary', [0]],
    ] as const)
      put(`${name}.dat`, Buffer.concat([big, Buffer.from(tail)]))
    await expect(copySource(folder, limits)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('workspace.exclude (late)'),
      details: { which: 'workspaceFileBytes', bound: limits.workspaceFileBytes, got: big.length, path: 'late' },
    })
    rmSync(join(folder, 'late'))
    const { tree, leftOut } = await copySource(folder, limits)
    expect([...tree.keys()]).toEqual(['a.txt'])
    expect([...leftOut]).toEqual([['', { count: 2, names: ['binary.dat', 'latin.dat'] }]])
  })

  it('opens no pipe, socket or device of the source, and says that they are there', async () => {
    put('a.txt', 'x')
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const server = createServer()
    await new Promise<void>((done) => server.listen(join(folder, 'socket'), done))
    symlinkSync('/dev/zero', join(folder, 'zero'))
    const { tree, leftOut } = await copySource(folder, limits)
    server.close()
    expect([...tree.keys()]).toEqual(['a.txt'])
    expect([...leftOut]).toEqual([['', { count: 3, names: ['pipe', 'socket', 'zero'] }]])
  })

  it('is refused beyond each bound, and excludes what it is told', async () => {
    put('big.txt', 'x'.repeat(100))
    put('other.txt', 'y')
    const refused = (which: string) => ({ code: 'LIMIT_EXCEEDED', details: expect.objectContaining({ which }) })
    const copy = (bounds: Partial<Record<keyof typeof limits, number>>, exclude?: string[]) =>
      copySource(folder, { ...limits, ...bounds }, exclude)
    await expect(copy({ workspaceFileBytes: 50 })).rejects.toMatchObject(refused('workspaceFileBytes'))
    await expect(copy({ workspaceTreeBytes: 100 })).rejects.toMatchObject(refused('workspaceTreeBytes'))
    await expect(copy({ workspaceFiles: 1 })).rejects.toMatchObject(refused('workspaceFiles'))
    expect((await copy({ workspaceFileBytes: 50 }, ['big.txt'])).tree.size).toBe(1)
    await expect(copySource(join(folder, 'gone'), limits)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('writing', () => {
  it('makes files and their folders, keeps the mode of what was there, and tells which it was', async () => {
    const of = workspaceOf(new Map([['run', textFile('x', true)]]))
    expect(await of.workspace.write('new/deep/a.txt', 'ü')).toEqual({ path: 'new/deep/a.txt', bytes: 2, created: true })
    expect(await of.workspace.write('./run', 'y')).toEqual({ path: 'run', bytes: 1, created: false })
    expect(of.current().get('run')).toEqual(textFile('y', true))
    expect(await of.workspace.write('RUN', 'another file')).toMatchObject({ created: true })
    expect(of.initial.get('run')?.text).toBe('x')
  })

  it.each<[string, string, string]>([
    ['a folder', 'dir', 'INVALID_ARGUMENTS'],
    ['the root', '.', 'INVALID_ARGUMENTS'],
    ['below a file', 'a.txt/b', 'INVALID_ARGUMENTS'],
    ['upwards', '../x', 'WORKSPACE_PATH'],
    ['an absolute path', '/etc/x', 'WORKSPACE_PATH'],
    ['a device', 'C:x', 'WORKSPACE_PATH'],
    ['Git metadata', '.git/config', 'WORKSPACE_PATH'],
    ['Git metadata in other letters', 'dir/.GIT', 'WORKSPACE_PATH'],
    ['Git metadata with letters that look alike', '．ｇｉｔ/config', 'WORKSPACE_PATH'],
    ['Git metadata with what nobody sees', '.g\u200cit/config', 'WORKSPACE_PATH'],
    ['Git metadata with dots behind', '.git. ./config', 'WORKSPACE_PATH'],
    ['a short name of Git metadata', 'GIT~1/config', 'WORKSPACE_PATH'],
  ])('to %s is refused', async (_what, path, code) => {
    const of = workspaceOf(small)
    await expect(of.workspace.write(path, 'x')).rejects.toMatchObject({ code })
    expect(of.current()).toBe(of.initial)
  })

  it('refuses names that no folder can hold, which would fail each later program', async () => {
    const of = workspaceOf(small)
    const refused = { code: 'WORKSPACE_PATH' }
    for (const path of ['n'.repeat(256), `d/${'é'.repeat(128)}/f`, `${`${'é'.repeat(100)}/`.repeat(35)}f`])
      await expect(of.workspace.write(path, 'x')).rejects.toMatchObject(refused)
    expect(await of.workspace.write('n'.repeat(255), 'x')).toMatchObject({ created: true })
  })

  it('takes text within its bounds, and nothing else', async () => {
    const of = workspaceOf(small)
    await expect(of.workspace.write('x', 'x'.repeat(limits.writeBytes + 1))).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { which: 'writeBytes' },
    })
    await expect(of.workspace.write('x', 'ü'.repeat(limits.writeBytes / 2 + 1))).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
    for (const text of ['a\0b', 'half \ud800'])
      await expect(of.workspace.write('x', text)).rejects.toMatchObject({ code: 'BINARY_FILE' })
    expect(await of.workspace.write('x', 'x'.repeat(limits.writeBytes))).toMatchObject({ bytes: limits.writeBytes })
    const full = new Map(Array.from({ length: 2_000 }, (_, at) => [`f${at}`, textFile('', false)] as const))
    await expect(workspaceOf(full).workspace.write('one-more', '')).rejects.toMatchObject({
      details: { which: 'workspaceFiles' },
    })
    const heavy = new Map(
      Array.from({ length: 8 }, (_, at) => [`f${at}`, textFile('x'.repeat(1 << 20), false)] as const),
    )
    await expect(workspaceOf(heavy).workspace.write('x', 'x')).rejects.toMatchObject({
      details: { which: 'workspaceTreeBytes' },
    })
  })
})

describe('a write that waits for a program', () => {
  it('and is told to stop then does not write, nor wait on; one that is not told to stop does', async () => {
    let end = () => {}
    const sandbox: Sandbox = {
      ...sandboxOf(() => ({})),
      run: ({ tree }) =>
        new Promise((done) => {
          end = () => done({ exitCode: 0, stdout: '', stderr: '', tree })
        }),
    }
    const of = isolatedWorkspace({ initial: small, sandbox, bounds: limits })
    const running = of.workspace.exec({ argv: ['x'] }, calm)
    const controller = new AbortController()
    const tools = nativeTools(() => of.workspace)
    const write = (path: string, signal: AbortSignal) =>
      tools.find(({ name }) => name === 'fs.write')?.run({ path, contents: 'x' }, toolContext({ signal }))
    const stopped = write('stopped', controller.signal)
    const going = write('going', calm.signal)
    await Promise.resolve()
    controller.abort(new Error('stop'))
    await expect(stopped).rejects.toThrow('stop')
    end()
    await running
    await going
    expect([...of.current().keys()]).toEqual(['a.txt', 'dir/b.txt', 'going'])
  })
})

describe('outputs', () => {
  it('are at most 128 KiB in JSON, whatever they are of; a range says how much there is', async () => {
    const limit = { code: 'OUTPUT_LIMIT' }
    const long = new Map([['long', textFile('ü'.repeat(100_000), false)]])
    const of = workspaceOf(long, () => ({ stdout: '\u0001'.repeat(30_000), tree: small }))
    await expect(of.workspace.read('long')).rejects.toMatchObject(limit)
    const part = await of.workspace.read('long', { offset: 1, length: 5 })
    expect(part).toEqual({ path: 'long', text: 'üü', offset: 2, bytes: 4, size: 200_000, next: 6 })
    await expect(of.workspace.exec({ argv: ['x'] }, calm)).rejects.toMatchObject(limit)
    expect(of.current()).toBe(of.initial)
    const many = new Map(
      Array.from({ length: 2_000 }, (_, at) => [`${'n'.repeat(90)}${at}`, textFile('', false)] as const),
    )
    await expect(workspaceOf(many).workspace.list('.')).rejects.toMatchObject(limit)
    const changed = workspaceOf(long, () => ({ tree: new Map() }))
    await changed.workspace.exec({ argv: ['x'] }, calm)
    await expect(changed.workspace.diff()).rejects.toMatchObject(limit)
    expect(Buffer.byteLength(changed.patch())).toBeGreaterThan(limits.outputBytes)
  })

  it('of a call that was told to stop while its program ended change nothing', async () => {
    const controller = new AbortController()
    const of = workspaceOf(small, () => {
      controller.abort(new Error('stopped'))
      return { tree: new Map() }
    })
    await expect(of.workspace.exec({ argv: ['x'] }, controller)).rejects.toThrow('stopped')
    expect(of.current()).toBe(of.initial)
  })
})

describe('the native registry', () => {
  const tools = nativeTools(() => workspaceOf(small).workspace)

  it('is exactly these five, with these effects and strict objects', () => {
    expect(tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['fs.read', 'read'],
      ['fs.list', 'read'],
      ['fs.write', 'mutate'],
      ['process.exec', 'mutate'],
      ['git.diff', 'read'],
    ])
    for (const tool of tools)
      expect(toolContract(tool).input).toMatchObject({ type: 'object', additionalProperties: false })
    expect(tools.every((tool) => Object.isFrozen(tool) && tool.kind === defineTool(tool).kind)).toBe(true)
  })

  it.each<[string, unknown]>([
    ['fs.write', { path: 'a' }],
    ['fs.write', { path: 'a', contents: 1 }],
    ['fs.write', { path: 'a', contents: '', mode: 0o777 }],
    ['fs.write', { path: 'a', contents: 'x'.repeat(limits.writeBytes + 1) }],
    ['process.exec', { argv: 'ls -la' }],
    ['process.exec', { command: 'ls' }],
    ['process.exec', { argv: [] }],
    ['process.exec', { argv: ['ls', 1] }],
    ['process.exec', { argv: new Array(129).fill('x') }],
    ['process.exec', { argv: ['ls'], shell: true }],
    ['process.exec', { argv: ['ls'], env: {} }],
    ['process.exec', { argv: ['ls'], timeoutMs: 0 }],
    ['process.exec', { argv: ['ls'], timeoutMs: 30_001 }],
    ['git.diff', { path: '.' }],
    ['git.diff', []],
  ])('%s refuses %j', async (name, args) => {
    const tool = tools.find((each) => each.name === name)
    await expect(tool?.run(args, toolContext())).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
  })

  it('judges a file tool by its path and a program by its words as a shell would quote them', () => {
    const subject = (name: string, args: object) => tools.find((each) => each.name === name)?.subject?.(args)
    expect(subject('fs.write', { path: 'a b', contents: '' })).toBe('a b')
    expect(subject('process.exec', { argv: ['rm', '-rf', 'a b', "it's", ''] })).toBe("rm -rf 'a b' 'it'\\''s' ''")
  })
})
