import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../src/facts/limits.ts'
import { localWorkspace } from '../../src/workspace/local-workspace.ts'

let base: string
let root: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'landfall-workspace-'))
  root = join(base, 'root')
  mkdirSync(join(root, 'sub'), { recursive: true })
  mkdirSync(join(base, 'outside'))
  writeFileSync(join(base, 'outside', 'secret.txt'), 'outside')
  writeFileSync(join(root, 'a.txt'), 'hello')
  writeFileSync(join(root, 'sub', 'b.txt'), 'below')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const refused = (code: string) => ({ name: 'LandfallError', code })

describe('paths', () => {
  it.each([
    '',
    '/etc/passwd',
    '..',
    '../outside/secret.txt',
    'sub/../../outside/secret.txt',
    'sub/..',
    '.git',
    '.git/config',
    'sub/.GIT/config',
    '.git./config',
    'a\\b',
    'C:x',
    'a*',
    'a?',
    'a"b',
    'a<b',
    'a>b',
    'a|b',
    'a\u0000b',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    'a\ud800b',
    `${'x/'.repeat(2_048)}y`,
  ])('%j is refused', async (path) => {
    const workspace = localWorkspace(root)
    await expect(workspace.read(path)).rejects.toMatchObject(refused('WORKSPACE_PATH'))
    await expect(workspace.list(path)).rejects.toMatchObject(refused('WORKSPACE_PATH'))
  })

  it('may name the same thing in roundabout ways', async () => {
    const workspace = localWorkspace(root)
    for (const path of ['sub/b.txt', './sub/b.txt', 'sub//b.txt', 'sub/./b.txt'])
      expect(await workspace.read(path)).toMatchObject({ path: 'sub/b.txt', text: 'below' })
    expect(await workspace.list('./sub/')).toMatchObject({ path: 'sub' })
    writeFileSync(join(root, '.gitignore'), 'x')
    writeFileSync(join(root, 'ünï 名.txt'), 'y')
    expect((await workspace.read('.gitignore')).text).toBe('x')
    expect((await workspace.read('ünï 名.txt')).text).toBe('y')
  })

  it('that name nothing, or the wrong kind of thing', async () => {
    const workspace = localWorkspace(root)
    await expect(workspace.read('nothing')).rejects.toMatchObject(refused('NOT_FOUND'))
    await expect(workspace.read('a.txt/below')).rejects.toMatchObject(refused('NOT_FOUND'))
    await expect(workspace.list('nothing')).rejects.toMatchObject(refused('NOT_FOUND'))
    await expect(workspace.read('sub')).rejects.toMatchObject(refused('INVALID_ARGUMENTS'))
    await expect(workspace.list('a.txt')).rejects.toMatchObject(refused('INVALID_ARGUMENTS'))
    await expect(workspace.read('x'.repeat(300))).rejects.toMatchObject(refused('WORKSPACE_PATH'))
  })

  it('errors hold no path of the host', async () => {
    const error = await localWorkspace(root)
      .read('nothing')
      .catch((reason: unknown) => reason)
    expect(String(error)).not.toContain(base)
  })

  it('a workspace that is no folder is refused', () => {
    for (const dir of [join(root, 'a.txt'), join(base, 'nowhere')])
      expect(() => localWorkspace(dir)).toThrow(expect.objectContaining(refused('INVALID_INPUT')))
  })
})

describe('links', () => {
  it('inside the workspace are followed', async () => {
    symlinkSync('a.txt', join(root, 'link'))
    symlinkSync('sub', join(root, 'folder'))
    const workspace = localWorkspace(root)
    expect((await workspace.read('link')).text).toBe('hello')
    expect((await workspace.read('folder/b.txt')).text).toBe('below')
    expect((await workspace.list('folder')).entries).toHaveLength(1)
  })

  it('never reach outside, nor Git metadata, and do not tell what is there', async () => {
    mkdirSync(join(root, '.git'))
    writeFileSync(join(root, '.git', 'config'), 'git')
    symlinkSync(join(base, 'outside', 'secret.txt'), join(root, 'file'))
    symlinkSync('../outside', join(root, 'folder'))
    symlinkSync(join(base, 'outside', 'missing.txt'), join(root, 'dangling'))
    symlinkSync('loop', join(root, 'loop'))
    symlinkSync('.git', join(root, 'meta'))
    symlinkSync('folder', join(root, 'twice'))
    const workspace = localWorkspace(root)
    for (const path of [
      'file',
      'folder/secret.txt',
      'folder/nothing',
      'dangling',
      'loop',
      'meta/config',
      'twice/secret.txt',
    ])
      await expect(workspace.read(path), path).rejects.toMatchObject(refused('WORKSPACE_PATH'))
    for (const path of ['folder', 'meta', 'twice'])
      await expect(workspace.list(path), path).rejects.toMatchObject(refused('WORKSPACE_PATH'))
  })

  it('hard links are refused: the other name may be outside', async () => {
    linkSync(join(base, 'outside', 'secret.txt'), join(root, 'hard'))
    await expect(localWorkspace(root).read('hard')).rejects.toMatchObject(refused('WORKSPACE_PATH'))
  })

  it('a root that is a link itself is fine', async () => {
    symlinkSync('root', join(base, 'alias'))
    expect((await localWorkspace(join(base, 'alias')).read('a.txt')).text).toBe('hello')
  })

  it('a parent swapped for a link while it is read gains nothing', { timeout: 60_000 }, async () => {
    mkdirSync(join(root, 'swapped'))
    writeFileSync(join(root, 'swapped', 'secret.txt'), 'inside')
    symlinkSync(join(base, 'outside'), join(base, 'bait'))
    const workspace = localWorkspace(root)
    const [swapped, kept, bait] = [join(root, 'swapped'), join(base, 'kept'), join(base, 'bait')]
    let going = true
    const swapping = (async () => {
      for (let round = 0; going; round++) {
        // Rests of different lengths, so that the swap meets a read at each of its points and sometimes misses it.
        for (let rest = 0; rest < round % 12; rest++) await stat(base)
        await rename(swapped, kept)
        await rename(bait, swapped)
        for (let rest = 0; rest < round % 7; rest++) await stat(base)
        await rename(swapped, bait)
        await rename(kept, swapped)
      }
    })()
    const seen = new Map<string, number>()
    const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    for (let round = 0; round < 3_000; round++) {
      await workspace.read('swapped/secret.txt').then(
        ({ text }) => note(text),
        (error: { code?: string }) => note(error.code ?? 'error without a code'),
      )
    }
    going = false
    await swapping
    expect(seen.get('outside')).toBeUndefined()
    expect([...seen.keys()].every((what) => ['inside', 'WORKSPACE_PATH', 'NOT_FOUND'].includes(what))).toBe(true)
    expect(seen.get('inside')).toBeGreaterThan(0)
  })
})

describe('special files', () => {
  it('a pipe is refused without waiting for a writer', { timeout: 5_000 }, async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    await expect(localWorkspace(root).read('pipe')).rejects.toMatchObject(refused('WORKSPACE_PATH'))
  })

  it('a socket is refused', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve))
    await expect(localWorkspace(root).read('socket')).rejects.toMatchObject(refused('WORKSPACE_PATH'))
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('reading', () => {
  it('says how much there is', async () => {
    expect(await localWorkspace(root).read('a.txt')).toEqual({
      path: 'a.txt',
      text: 'hello',
      offset: 0,
      bytes: 5,
      size: 5,
    })
    writeFileSync(join(root, 'empty'), '')
    expect(await localWorkspace(root).read('empty')).toEqual({ path: 'empty', text: '', offset: 0, bytes: 0, size: 0 })
  })

  it('by range is cut between characters and says where to go on', async () => {
    writeFileSync(join(root, 'utf8'), 'aé名😀z')
    const workspace = localWorkspace(root)
    expect(await workspace.read('utf8', { length: 2 })).toMatchObject({ text: 'a', bytes: 1, next: 1, size: 11 })
    expect(await workspace.read('utf8', { offset: 2, length: 5 })).toMatchObject({ text: '名', offset: 3, next: 6 })
    expect(await workspace.read('utf8', { offset: 6, length: 1 })).toMatchObject({ text: '😀', next: 10 })
    expect(await workspace.read('utf8', { offset: 10 })).toEqual({
      path: 'utf8',
      text: 'z',
      offset: 10,
      bytes: 1,
      size: 11,
    })
    expect(await workspace.read('utf8', { offset: 99 })).toMatchObject({ text: '', offset: 11, bytes: 0 })
  })

  it('range after range gives the whole text', async () => {
    const workspace = localWorkspace(root)
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
      .filter((value) => !value.includes('\u0000'))
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (whole, length) => {
        writeFileSync(join(root, 'text'), whole)
        let read = ''
        for (let offset: number | undefined = 0; offset !== undefined; ) {
          const part = await workspace.read('text', { offset, length })
          read += part.text
          expect(part.next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(offset)
          offset = part.next
        }
        expect(read).toBe(whole)
      }),
      { seed: 3, numRuns: 100 },
    )
  })

  it('refuses ranges that are none', async () => {
    for (const range of [{ offset: -1 }, { offset: 0.5 }, { length: 0 }, { length: Number.NaN }])
      await expect(localWorkspace(root).read('a.txt', range)).rejects.toMatchObject(refused('INVALID_ARGUMENTS'))
  })

  it('refuses what is no text', async () => {
    const workspace = localWorkspace(root)
    writeFileSync(join(root, 'nul'), 'text\u0000text')
    writeFileSync(join(root, 'latin'), Buffer.from([0x66, 0xfc, 0x72]))
    writeFileSync(join(root, 'cut'), Buffer.from('é').subarray(0, 1))
    writeFileSync(join(root, 'late'), Buffer.concat([Buffer.from([0]), Buffer.alloc(1_000, 'a')]))
    for (const path of ['nul', 'latin', 'cut'])
      await expect(workspace.read(path)).rejects.toMatchObject(refused('BINARY_FILE'))
    await expect(workspace.read('late', { offset: 500, length: 10 })).rejects.toMatchObject(refused('BINARY_FILE'))
  })

  it('keeps to the output bound: an error without a range, a cut with one', async () => {
    const workspace = localWorkspace(root)
    writeFileSync(join(root, 'large'), 'x'.repeat(limits.outputBytes + 1))
    writeFileSync(join(root, 'lines'), '\n'.repeat(limits.outputBytes - 1_000))
    for (const path of ['large', 'lines']) {
      await expect(workspace.read(path), path).rejects.toMatchObject(refused('OUTPUT_LIMIT'))
      let total = 0
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const part = await workspace.read(path, { offset })
        expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(limits.outputBytes)
        total += part.bytes
        offset = part.next
      }
      expect(total).toBe(path === 'large' ? limits.outputBytes + 1 : limits.outputBytes - 1_000)
    }
  })
})

describe('listing', () => {
  it('is sorted, with types, without Git metadata, and counts what cannot be named', async () => {
    mkdirSync(join(root, '.git'))
    symlinkSync('a.txt', join(root, 'link'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    writeFileSync(join(root, 'no:name'), '')
    writeFileSync(join(root, 'Z'), '')
    expect(await localWorkspace(root).list('.')).toEqual({
      path: '.',
      entries: [
        { name: 'Z', type: 'file' },
        { name: 'a.txt', type: 'file' },
        { name: 'link', type: 'link' },
        { name: 'pipe', type: 'other' },
        { name: 'sub', type: 'directory' },
      ],
      unlisted: 1,
    })
  })

  it('larger than the output bound is an error', async () => {
    const name = 'n'.repeat(240)
    for (let at = 0; at < 520; at++) writeFileSync(join(root, 'sub', `${name}${at}`), '')
    await expect(localWorkspace(root).list('sub')).rejects.toMatchObject(refused('OUTPUT_LIMIT'))
  })
})
