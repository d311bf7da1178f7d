import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GroupHost, groupPlaces } from '../../src/workspace/control-groups.ts'
import { boundsByEngine, boundsByGroups, unenforced } from '../../src/workspace/held-bounds.ts'
import type { HeldBound } from '../../src/workspace/sandbox.ts'

const modern = '6.1.0-18-amd64'
const processors = 'processor time of all processes together (each one is bounded)'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'landfall-groups-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** A tree of control groups as a kernel has it: a folder that is made in one of these has these files. */
function hostOf(groups: Readonly<Record<string, readonly string[]>>, own: string): GroupHost {
  for (const folder of Object.keys(groups)) mkdirSync(join(root, folder), { recursive: true })
  const list = join(root, 'own-groups')
  writeFileSync(list, own)
  return {
    root,
    own: list,
    make: (folder) => {
      const files = groups[dirname(folder).slice(root.length + 1)]
      if (files === undefined) throw new Error('EACCES')
      mkdirSync(folder)
      for (const file of files) writeFileSync(join(folder, file), '')
    },
    remove: (folder) => rmSync(folder, { recursive: true }),
  }
}

function second(groups: Readonly<Record<string, readonly string[]>>, own = '0::/user/me\n'): GroupHost {
  const host = hostOf(groups, own)
  writeFileSync(join(root, 'cgroup.controllers'), 'memory pids\n')
  return host
}

const holds = (bounds: readonly HeldBound[]) => Object.fromEntries(bounds.map(({ bound, holds: how }) => [bound, how]))
const told = (host: GroupHost, release = modern) => {
  const bounds = boundsByGroups(groupPlaces(host), release)
  expect(bounds.map(({ bound }) => bound)).toEqual([
    'memory',
    'swapped memory',
    'number of processes',
    'processor time',
    'disk',
    'wall time',
  ])
  expect(holds(bounds)).toMatchObject({ 'processor time': 'each', disk: 'together', 'wall time': 'together' })
  // Nothing is left of the looking.
  expect(readdirSync(root, { recursive: true }).filter((name) => String(name).includes('probe'))).toEqual([])
  return unenforced(bounds)
}

const memory = 'memory of all processes together (each one is bounded)'
const first = ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes']
const own = '9:name=systemd:/\n8:pids:/\n4:memory:/mine/here\n0::/\n'

describe('what cannot be enforced with bubblewrap', () => {
  it.each<[string, Record<string, readonly string[]>, readonly string[]]>([
    ['in the own group', { 'memory/mine/here': first, pids: ['pids.max'] }, [processors]],
    ['at the top', { memory: first, pids: ['pids.max'] }, [processors]],
    ['without the bound of swap', { memory: first.slice(0, 1), pids: ['pids.max'] }, ['swapped memory', processors]],
    ['without memory', { pids: ['pids.max'] }, [memory, 'swapped memory', processors]],
    ['without processes, which the user limit counts', { memory: first }, [processors]],
    ['where none can be made', {}, [memory, 'swapped memory', processors]],
  ])('is told with control groups of version 1, %s', (_where, groups, expected) => {
    expect(told(hostOf(groups, own))).toEqual(expected)
  })

  it.each<[string, Record<string, readonly string[]>, readonly string[]]>([
    ['below the own group', { 'user/me': ['memory.max', 'memory.swap.max', 'pids.max'] }, [processors]],
    ['beside the own group', { user: ['memory.max', 'memory.swap.max', 'pids.max'] }, [processors]],
    ['without swap', { user: ['memory.max', 'pids.max'] }, ['swapped memory', processors]],
    ['without memory', { user: ['pids.max'] }, [memory, 'swapped memory', processors]],
    ['with empty groups', { user: ['cgroup.procs'], 'user/me': [] }, [memory, 'swapped memory', processors]],
    ['where none can be made', {}, [memory, 'swapped memory', processors]],
  ])('is told with control groups of version 2, %s', (_where, groups, expected) => {
    expect(told(second(groups))).toEqual(expected)
  })

  it('is told without control groups, and on a kernel that cannot count the processes of a sandbox', () => {
    const none: GroupHost = { ...hostOf({}, ''), own: join(root, 'gone') }
    expect(told(none)).toEqual([memory, 'swapped memory', processors])
    for (const old of ['4.19.0', '5.13.9-generic'])
      expect(told(none, old)).toEqual([memory, 'swapped memory', 'number of processes', processors])
    for (const fresh of ['5.14.0', '6.0', '10.1']) expect(told(none, fresh)).not.toContain('number of processes')
  })

  it('never looks outside the tree of groups', () => {
    expect(groupPlaces(second({}, '0::/../../outside\n'))).toMatchObject({ memory: null, pids: null })
  })
})

describe('what cannot be enforced with docker', () => {
  it('is what the engine says that its host cannot do', () => {
    expect(unenforced(boundsByEngine({}))).toEqual([processors])
    const all = { MemoryLimit: true, SwapLimit: true, PidsLimit: true, CgroupVersion: '2' }
    expect(unenforced(boundsByEngine(all))).toEqual([processors])
    expect(boundsByEngine(all)[0]).toEqual({ bound: 'memory', holds: 'together', by: 'control group v2' })
    expect(unenforced(boundsByEngine({ ...all, SwapLimit: false }))).toEqual(['swapped memory', processors])
    const none = { MemoryLimit: false, SwapLimit: false, PidsLimit: false, CgroupVersion: '1' }
    const expected = ['memory', 'swapped memory', 'number of processes', processors]
    expect(unenforced(boundsByEngine(none))).toEqual(expected)
  })
})
