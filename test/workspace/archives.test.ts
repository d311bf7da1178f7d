import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../src/facts/limits.ts'
import { entry, tarOf } from '../../src/workspace/tar.ts'
import { type Tree, textFile } from '../../src/workspace/tree.ts'
import { TreeReader } from '../../src/workspace/untar.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-tar-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const end = Buffer.alloc(1_024)
const head = (name: string, type = '0', more: object = {}) => ({ name, mode: 0o644, type, seconds: 0, ...more })
const archive = (...entries: readonly (readonly Buffer[])[]) => Buffer.concat([...entries.flat(), end])

function read(bytes: Buffer, chunk = bytes.length, bounds: Partial<typeof limits> = {}): Tree {
  const reader = new TreeReader({ ...limits, ...bounds })
  for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.subarray(at, at + chunk))
  return reader.tree()
}

const sample: Tree = new Map([
  ['a.txt', textFile('hello\n', false)],
  ['deep/er/run', textFile('#!/bin/sh\n', true)],
  [`${'d'.repeat(90)}/${'n'.repeat(95)}`, textFile('long name', false)],
  ['ü 名', textFile('', false)],
])
const sorted = (tree: Tree) => [...tree].sort(([one], [other]) => (one < other ? -1 : 1))

describe('an archive of a tree', () => {
  it('is read back, however it is cut', () => {
    for (const chunk of [1, 7, 511, 512, 513, 100_000])
      expect(sorted(read(tarOf(sample, 0), chunk))).toEqual(sorted(sample))
  })

  it('is understood by the tar of the system, and its archives are understood', () => {
    writeFileSync(join(folder, 'in.tar'), tarOf(sample, 1_000))
    execFileSync('sh', ['-c', 'mkdir tree && tar -x -C tree -f in.tar'], { cwd: folder })
    expect(readFileSync(join(folder, 'tree/ü 名'), 'utf8')).toBe('')
    for (const format of ['gnu', 'pax', 'ustar']) {
      execFileSync('tar', ['-c', `--format=${format}`, '-C', 'tree', '-f', 'out.tar', '.'], { cwd: folder })
      expect(sorted(read(readFileSync(join(folder, 'out.tar'))))).toEqual(sorted(sample))
    }
  })

  it.each<[string, Buffer, string]>([
    ['a link', archive(entry(head('l', '2', { link: '/etc/passwd' }))), 'WORKSPACE_PATH'],
    ['another name of a file', archive(entry(head('a')), entry(head('l', '1', { link: 'a' }))), 'WORKSPACE_PATH'],
    ['a device', archive(entry(head('d', '3'))), 'WORKSPACE_PATH'],
    ['a pipe', archive(entry(head('p', '6'))), 'WORKSPACE_PATH'],
    [
      'a file that is a folder too',
      archive(entry(head('a')), entry(head('a-b')), entry(head('a/b'))),
      'WORKSPACE_PATH',
    ],
    ['a folder that is a file too', archive(entry(head('d/e/f')), entry(head('d/e'))), 'WORKSPACE_PATH'],
    ['a way up', archive(entry(head('../a'))), 'WORKSPACE_PATH'],
    ['an absolute path', archive(entry(head('/etc/passwd'))), 'WORKSPACE_PATH'],
    ['a path into Git metadata', archive(entry(head('sub/.Git/config'))), 'WORKSPACE_PATH'],
    ['a name that no path can have', archive(entry(head('a\nb'))), 'WORKSPACE_PATH'],
    ['data that is no text', archive(entry(head('a'), Buffer.from([0xff, 0xfe]))), 'BINARY_FILE'],
    ['data with zeros', archive(entry(head('a'), Buffer.from('a\0b'))), 'BINARY_FILE'],
    ['no end', Buffer.concat([...entry(head('a'), Buffer.from('x'))]), 'WORKSPACE_FAILED'],
    ['nothing', Buffer.alloc(0), 'WORKSPACE_FAILED'],
    ['garbage', Buffer.alloc(2_048, 'x'), 'WORKSPACE_FAILED'],
  ])('with %s is refused', (_what, bytes, code) => {
    expect(() => read(bytes)).toThrow(expect.objectContaining({ code }))
    expect(() => read(bytes, 100)).toThrow(expect.objectContaining({ code }))
  })

  it('is refused beyond each bound before its data is read', () => {
    const huge = Buffer.concat(entry(head('a'), Buffer.alloc(0)))
    // A size of eight gigabytes, as such sizes are written; the check sum is made anew.
    huge.set([0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0], 124)
    huge.write('        ', 148)
    const sum = huge.subarray(0, 512).reduce((total, byte) => total + byte, 0)
    huge.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    const limit = (which: string) =>
      expect.objectContaining({ code: 'LIMIT_EXCEEDED', details: expect.objectContaining({ which }) })
    expect(() => read(huge)).toThrow(limit('workspaceFileBytes'))
    expect(() => read(tarOf(sample, 0), 100, { workspaceFiles: 3 as never })).toThrow(limit('workspaceFiles'))
    expect(() => read(tarOf(sample, 0), 100, { workspaceTreeBytes: 20 as never })).toThrow(limit('workspaceTreeBytes'))
    expect(() => read(tarOf(sample, 0), 100, { workspaceFileBytes: 8 as never })).toThrow(limit('workspaceFileBytes'))
  })

  it('names the file that it is refused for, and keeps nothing behind a problem', () => {
    const reader = new TreeReader(limits)
    expect(reader.push(archive(entry(head('./sub/l', '2', { link: 'x' })), entry(head('a'))))).toBe(false)
    expect(() => reader.tree()).toThrow(/"sub\/l"/)
    expect(reader.push(end)).toBe(false)
  })

  it('that is damaged anywhere gives a tree or a code, never anything else', () => {
    const good = tarOf(sample, 0)
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
        const bad = Buffer.from(good)
        bad[at] = byte
        try {
          read(bad, 777)
        } catch (error) {
          expect(error).toMatchObject({ name: 'LandfallError' })
        }
      }),
      { numRuns: 500, seed: 3 },
    )
  })
})
