import { createHash } from 'node:crypto'
import { callMachine } from '../../machines/call.machine.ts'
import { groupMachine } from '../../machines/group.machine.ts'
import { sessionMachine } from '../../machines/session.machine.ts'
import { taskMachine } from '../../machines/task.machine.ts'
import { emptyWorld, type World } from '../../machines/world.ts'

/**
 * Counts the meanings of folded state. Whoever changes a chart, a reducer or the shape of the world counts it up, and every
 * older snapshot is thrown away; `test/repo/fold-version.test.ts` notices a change that was not counted.
 */
export const foldVersion = 14

/** Maps and sets of the world that are written as lists, by name. */
const maps = [
  'taskRecords',
  'callRecords',
  'ownViews',
  'unanswered',
  'waits',
  'episodes',
  'memory',
  'steering',
  'receipts',
  'keys',
  'reserved',
] as const satisfies readonly (keyof World)[]
const sets = ['settledPauses', 'warned', 'unoffered'] as const satisfies readonly (keyof World)[]
const plain = [
  'seq',
  'commit',
  'sharedView',
  'messageCount',
  'used',
  'usage',
  'lastEnd',
  'tree',
] as const satisfies readonly (keyof World)[]

type Charts = { readonly [N in 'tasks' | 'calls' | 'groups']: [string, Chart][] }

interface Chart {
  readonly value: unknown
  readonly context: unknown
}

/**
 * Folded state as text, behind a digest of it and of the place in the chain that it stands at: what was damaged, or belongs to
 * another place, is told from what was written. Message bodies are not in it, because the world does not hold them.
 */
export function packWorld(world: World, at: string): string {
  const packed: Record<string, unknown> = { foldVersion }
  for (const name of plain) packed[name] = world[name]
  for (const name of maps) packed[name] = [...world[name]]
  for (const name of sets) packed[name] = [...world[name]]
  packed.session = world.session === null ? null : chartOf(world.session)
  packed.tasks = [...world.tasks].map(([id, snapshot]) => [id, chartOf(snapshot)])
  packed.groups = [...world.groups].map(([id, snapshot]) => [id, chartOf(snapshot)])
  packed.calls = [...world.calls].map(([id, snapshot]) => [id, chartOf(snapshot)])
  const body = JSON.stringify(packed)
  return `${digestOf(body, at)}${body}`
}

const digestChars = 64

function digestOf(body: string, at: string): string {
  return createHash('sha256').update(at).update(body).digest('hex')
}

/** The world of a snapshot, or null when another version wrote it or it is damaged. */
export function unpackWorld(text: string, at: string): World | null {
  const body = text.slice(digestChars)
  if (text.slice(0, digestChars) !== digestOf(body, at)) return null
  try {
    const packed = JSON.parse(body) as Record<string, unknown> & Charts
    if (packed.foldVersion !== foldVersion) return null
    const world: Record<string, unknown> = { ...emptyWorld() }
    for (const name of plain) world[name] = packed[name]
    for (const name of maps) world[name] = new Map(packed[name] as [string, unknown][])
    for (const name of sets) world[name] = new Set(packed[name] as unknown[])
    world.session = packed.session === null ? null : sessionMachine.resolveState(packed.session as never)
    world.tasks = new Map(packed.tasks.map(([id, chart]) => [id, taskMachine.resolveState(chart as never)]))
    world.groups = new Map(packed.groups.map(([id, chart]) => [id, groupMachine.resolveState(chart as never)]))
    world.calls = new Map(packed.calls.map(([id, chart]) => [id, callMachine.resolveState(chart as never)]))
    return world as object as World
  } catch {
    return null
  }
}

function chartOf({ value, context }: Chart): Chart {
  return { value, context }
}
