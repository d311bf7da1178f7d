import type { GroupPlaces } from './control-groups.ts'
import type { HeldBound } from './sandbox.ts'

/** Since then the kernel counts the processes of a user by user namespace, so that one sandbox does not count another's. */
const countedSince = [5, 14] as const

/** With bubblewrap, by where control groups can be made and by the version of the kernel. */
export function boundsByGroups(places: GroupPlaces, release: string): readonly HeldBound[] {
  const group = `control group v${places.version}`
  const byGroup = (place: string | null) => (place === null ? null : ({ holds: 'together', by: group } as const))
  const counted = isSince(release)
    ? ({ holds: 'together', by: 'limit of the user' } as const)
    : ({ holds: 'not', by: `kernel ${release}` } as const)
  return [
    { bound: 'memory', ...(byGroup(places.memory) ?? { holds: 'each', by: 'limit of the process' }) },
    { bound: 'swapped memory', ...(places.swap ? { holds: 'together', by: group } : { holds: 'not', by: 'no group' }) },
    { bound: 'number of processes', ...(byGroup(places.pids) ?? counted) },
    ...always,
    { bound: 'wall time', holds: 'together', by: 'timer' },
  ]
}

/** What an engine tells of itself. */
export interface EngineInfo {
  readonly ServerVersion?: string
  readonly MemoryLimit?: boolean
  readonly SwapLimit?: boolean
  readonly PidsLimit?: boolean
  readonly CgroupVersion?: string
}

/** With Docker, by what the engine says that its host can do. What it does not say it is taken to do. */
export function boundsByEngine(info: EngineInfo): readonly HeldBound[] {
  const group = `control group v${info.CgroupVersion ?? '?'}`
  const held = (can: boolean | undefined) =>
    can === false ? ({ holds: 'not', by: 'engine' } as const) : ({ holds: 'together', by: group } as const)
  return [
    { bound: 'memory', ...held(info.MemoryLimit) },
    { bound: 'swapped memory', ...held(info.SwapLimit) },
    { bound: 'number of processes', ...held(info.PidsLimit) },
    ...always,
    { bound: 'wall time', holds: 'together', by: 'timer, and a watchdog in the container' },
  ]
}

/** The same with each driver and on each host. */
const always: readonly HeldBound[] = [
  { bound: 'processor time', holds: 'each', by: 'limit of the process' },
  { bound: 'disk', holds: 'together', by: 'size of each folder in memory' },
]

/** In words, what cannot be enforced as it is meant. */
export function unenforced(bounds: readonly HeldBound[]): readonly string[] {
  return bounds.flatMap(({ bound, holds }) => {
    if (holds === 'together') return []
    return [holds === 'not' ? bound : `${bound} of all processes together (each one is bounded)`]
  })
}

function isSince(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10) || 0)
  return major > countedSince[0] || (major === countedSince[0] && minor >= countedSince[1])
}
