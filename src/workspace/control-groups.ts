import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock, systemScheduler } from '../facts/system-ports.ts'
import type { SandboxBounds } from './sandbox.ts'

const root = '/sys/fs/cgroup'
const emptyPollMs = 5
const emptyMs = 2_000

/** Where groups can be made, by controller; one folder serves both under version 2. */
export interface GroupPlaces {
  readonly memory: string | null
  readonly pids: string | null
  readonly version: 1 | 2
}

/** Looks where this process may make groups of its own, by making one. */
export function groupPlaces(): GroupPlaces {
  const own = ownGroups()
  if (existsSync(join(root, 'cgroup.controllers'))) {
    // Controllers are given to children of a group without processes, so the group beside our own is tried too.
    const here = join(root, own.get('') ?? '/')
    const place = [here, dirname(here)].find((folder) => folder.startsWith(root) && isWritable(folder, 'memory.max'))
    return { memory: place ?? null, pids: place ?? null, version: 2 }
  }
  const first = (controller: string, file: string): string | null => {
    const top = join(root, controller)
    return [join(top, own.get(controller) ?? '/'), top].find((folder) => isWritable(folder, file)) ?? null
  }
  return { memory: first('memory', 'memory.limit_in_bytes'), pids: first('pids', 'pids.max'), version: 1 }
}

/** `/proc/self/cgroup`: number, controllers, path; no controllers for version 2. */
function ownGroups(): ReadonlyMap<string, string> {
  try {
    const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')
    return new Map(lines.map((line) => [line.split(':')[1] ?? '', line.split(':').slice(2).join(':')]))
  } catch {
    return new Map()
  }
}

function isWritable(folder: string, file: string): boolean {
  const probe = join(folder, `landfall-probe-${process.pid}`)
  try {
    mkdirSync(probe)
    try {
      return existsSync(join(probe, file))
    } finally {
      rmdirSync(probe)
    }
  } catch {
    return false
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
    places.version === 2
      ? ['memory.max', 'memory.swap.max', 'pids.max']
      : ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes', 'pids.max']
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
    if (!folder.startsWith(`${root}/`) || !/\/landfall-[0-9a-f]+$/.test(folder)) continue
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
