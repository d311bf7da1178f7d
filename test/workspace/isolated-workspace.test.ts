import { describe, expect, it } from 'vitest'
import { defineTool, toolContract } from '../../src/capabilities/define-tool.ts'
import { nativeTools } from '../../src/capabilities/native-tools.ts'
import { limits } from '../../src/facts/limits.ts'
import { isolatedWorkspace } from '../../src/workspace/isolated-workspace.ts'
import type { Sandbox, SandboxEnd, SandboxRun } from '../../src/workspace/sandbox.ts'
import { type Tree, textFile } from '../../src/workspace/tree.ts'
import { toolContext } from '../capabilities/tool-context.ts'

const calm = { signal: new AbortController().signal }

/** The sandbox is what the contract suites look at; here its program is a function. */
function sandboxOf(run: (of: SandboxRun) => Partial<SandboxEnd>): Sandbox {
  return {
    isolation: 'bubblewrap',
    report: async () => ({ works: true, detail: '', bounds: [] }),
    run: async (of) => ({ exitCode: 0, stdout: '', stderr: '', tree: of.tree, ...run(of) }),
  }
}

const workspaceOf = (initial: Tree, run: (of: SandboxRun) => Partial<SandboxEnd> = () => ({})) =>
  isolatedWorkspace({ initial, sandbox: sandboxOf(run), bounds: limits })
const small: Tree = new Map([
  ['a.txt', textFile('hello', false)],
  ['dir/b.txt', textFile('below', false)],
])

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
