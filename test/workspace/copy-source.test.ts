import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../src/facts/limits.ts'
import { copySource } from '../../src/workspace/copy-source.ts'
import { SourceOutline } from '../../src/workspace/left-out.ts'
import { listTree } from '../../src/workspace/tree-reading.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-copy-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

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
    const outline = new SourceOutline(leftOut, tree)
    expect(listTree({ tree, outline, bounds: limits }, 'sub')).toEqual({
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
