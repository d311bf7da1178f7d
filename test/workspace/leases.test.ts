import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostProcesses } from '../../src/facts/processes.ts'
import { removeGroups } from '../../src/workspace/control-groups.ts'
import { type LeaseRecord, Leases } from '../../src/workspace/leases.ts'

let folder: string
let swept: LeaseRecord[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-odd-'))
  swept = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const id = 'ab'.repeat(10)
const lost = { v: 1, host: hostProcesses().host, pid: 2 ** 22 + 1, startedAt: 1 } as const
const record = (more: object = {}): string =>
  JSON.stringify({ ...lost, isolation: 'docker', groups: [], container: `landfall-${id}`, ...more })
const put = (text: string, name = `${id}.json`) => writeFileSync(join(folder, name), text)
const sweep = () => new Leases(folder).sweep(async (of) => void swept.push(of))

describe('a folder of leases', () => {
  it('is swept of those whose process is gone, and of no others', async () => {
    const held = new Leases(folder).take((of) => ({ isolation: 'docker', groups: [], container: `landfall-${of}` }))
    put(record())
    expect(await sweep()).toBe(1)
    expect(swept).toMatchObject([{ container: `landfall-${id}` }])
    expect(readdirSync(folder)).toEqual([`${held.id}.json`])
    held.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it.each<[string, object]>([
    ['the container of somebody else', { container: 'database' }],
    ['a container of another lease', { container: 'landfall-cd' }],
    ['a group that is none of ours', { groups: ['/sys/fs/cgroup/memory'] }],
    ['a folder of processes', { groups: ['/proc/x/y'] }],
    ['a group of another lease', { groups: ['/sys/fs/cgroup/memory/landfall-cd'] }],
    ['something else altogether', { groups: 'all' }],
    ['more than it may', { more: true }],
  ])('with a file that names %s is not acted on', async (_what, more) => {
    put(record(more))
    expect(await sweep()).toBe(0)
    expect(swept).toEqual([])
    utimesSync(join(folder, `${id}.json`), 0, 0)
    expect(await sweep()).toBe(1)
    expect(swept).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('is read past pipes, sockets, links, folders and whatever else is there, without waiting', async () => {
    const name = (letters: string) => join(folder, `${letters.repeat(10)}.json`)
    execFileSync('mkfifo', [name('a1')])
    symlinkSync('/dev/zero', name('a2'))
    symlinkSync('/proc/self/mem', name('a3'))
    execFileSync('mkdir', [name('a4')])
    const server = createServer()
    await new Promise<void>((done) => server.listen(name('a5'), done))
    put('x'.repeat(100_000), `${'a6'.repeat(10)}.json`)
    put('{', `${'a7'.repeat(10)}.json`)
    put(record(), 'not-a-lease.json')
    put(record())
    expect(await sweep()).toBe(1)
    expect(swept).toHaveLength(1)
    server.close()
  })

  it('that can never be made is refused, also where nothing can be made at all', () => {
    const refused = expect.objectContaining({ code: 'WORKSPACE_FAILED' })
    for (const place of ['/proc/x/y', '/proc/1/x', '/dev/null/x/y', join(folder, 'a', 'b', '\0')])
      expect(() => new Leases(place), place).toThrow(refused)
    put('', 'file')
    expect(() => new Leases(join(folder, 'file'))).toThrow(refused)
    symlinkSync('/tmp', join(folder, 'link'))
    expect(() => new Leases(join(folder, 'link'))).toThrow(refused)
    expect(new Leases(join(folder, 'made', 'with', 'parents')).folder).toContain('parents')
  })
})

describe('groups of a lease', () => {
  it('are only touched where this library makes them', async () => {
    const inTree = mkdtempSync(join(tmpdir(), 'landfall-aa'))
    for (const odd of [
      '/proc/x/y',
      '/proc/1/landfall-ab',
      inTree,
      `/sys/fs/cgroup/../../..${inTree}`,
      '/sys/fs/cgroup',
    ])
      await removeGroups([odd])
    expect(readdirSync(inTree)).toEqual([])
    rmSync(inTree, { recursive: true })
  })
})
