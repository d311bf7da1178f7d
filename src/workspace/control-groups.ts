import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import type { SandboxBounds } from './sandbox.ts'

const root = '/sys/fs/cgroup'
const emptyPollMs = 5
const emptyMs = 2_000

/** Where groups can be made, by controller; one folder serves both under version 2. */
export interface GroupPlaces {
  readonly memory: string | null
  readonly pids: string | null
  /** Whether the group of memory bounds what is swapped out too. */
  readonly swap: boolean
  readonly version: 1 | 2
}

/** The control groups of a kernel. */
export interface GroupHost {
  readonly root: string
  /** `/proc/self/cgroup`. */
  readonly own: string
  /** Throws where this process may not. The kernel fills the folder with the files of its controllers. */
  make(folder: string): void
  remove(folder: string): void
}

const kernel: GroupHost = { root, own: '/proc/self/cgroup', make: mkdirSync, remove: rmdirSync }

/** Looks where this process may make groups of its own, by making one. */
export function groupPlaces(host: GroupHost = kernel): GroupPlaces {
  const own = ownGroups(host.own)
  const isSecond = existsSync(join(host.root, 'cgroup.controllers'))
  const place = (controller: string, file: string) => {
    const top = isSecond ? host.root : join(host.root, controller)
    const here = join(top, own.get(isSecond ? '' : controller) ?? '/')
    // Controllers are given to children of a group without processes, so the group beside our own is tried too.
    const folders = isSecond ? [here, dirname(here)] : [here, top]
    return folders.find((folder) => folder.startsWith(host.root) && filesOfNew(host, folder).includes(file)) ?? null
  }
  const [memory, swap] = isSecond ? ['memory.max', 'memory.swap.max'] : [firstMemory, firstSwap]
  const found = place('memory', memory)
  return {
    memory: found,
    pids: place('pids', 'pids.max'),
    swap: found !== null && filesOfNew(host, found).includes(swap),
    version: isSecond ? 2 : 1,
  }
}

const firstMemory = 'memory.limit_in_bytes'
const firstSwap = 'memory.memsw.limit_in_bytes'

/** Lines of number, controllers, path; no controllers for version 2. */
function ownGroups(file: string): ReadonlyMap<string, string> {
  try {
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    return new Map(lines.map((line) => [line.split(':')[1] ?? '', line.split(':').slice(2).join(':')]))
  } catch {
    return new Map()
  }
}

/** What a group that is made there would have; nothing where none can be made. */
function filesOfNew(host: GroupHost, folder: string): readonly string[] {
  const probe = join(folder, `landfall-probe-${process.pid}`)
  try {
    host.make(probe)
    try {
      return readdirSync(probe)
    } finally {
      host.remove(probe)
    }
  } catch {
    return []
  }
}

export function groupFolders(places: GroupPlaces, id: string): readonly string[] {
  const folders = [places.memory, places.pids].filter((place) => place !== null)
  return [...new Set(folders)].map((place) => join(place, `landfall-${id}`))
}

/** Makes the groups with their bounds; what a kernel does not have is left out. */
export function makeGroups(places: GroupPlaces, id: string, bounds: SandboxBounds): void {
  for (const folder of groupFolders(places, id)) mkdirSync(folder)
  const [memory, swap, pids] =
    places.version === 2 ? ['memory.max', 'memory.swap.max', 'pids.max'] : [firstMemory, firstSwap, 'pids.max']
  const own = `landfall-${id}`
  const write = (place: string | null, file: string, value: number) => {
    if (place !== null && existsSync(join(place, own, file))) writeFileSync(join(place, own, file), String(value))
  }
  write(places.memory, memory, bounds.sandboxMemoryBytes)
  write(places.memory, swap, places.version === 2 ? 0 : bounds.sandboxMemoryBytes)
  write(places.pids, pids, bounds.sandboxProcesses)
}

export function joinGroups(folders: readonly string[], pid: number): void {
  for (const folder of folders) writeFileSync(join(folder, 'cgroup.procs'), String(pid))
}

/** Ends what is in the groups and removes them. */
export async function removeGroups(folders: readonly string[]): Promise<void> {
  const until = systemClock.now() + emptyMs
  for (const folder of folders) {
    // Only what this module has made is ever touched, whatever a lease says.
    if (resolve(folder) !== folder || !folder.startsWith(`${root}/`) || !/\/landfall-[0-9a-f]+$/.test(folder)) continue
    while (existsSync(folder) && !isRemoved(folder)) {
      if (systemClock.now() > until) throw new Error('a control group does not become empty')
      await new Promise<void>((resolve) => void systemScheduler().at(systemClock.now() + emptyPollMs, resolve))
    }
  }
}

function isRemoved(folder: string): boolean {
  try {
    for (const line of readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n'))
      if (Number(line) > 1) endProcess(Number(line))
    rmdirSync(folder)
    return true
  } catch {
    return !existsSync(folder)
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
