import type { World } from '../../../machines/world.ts'
import type { Ids } from '../../facts/ports.ts'
import { buildDesk } from '../../runtime/desk-builder.ts'
import { expand } from '../../runtime/expand.ts'
import { Step, type StepBase, type StepInput } from '../../runtime/step.ts'
import type { TaskDesk } from '../../runtime/task-desk.ts'
import { StandInBodies, Wishes } from './stand-in-bodies.ts'
import { standInHost, standInKey, standInScope } from './stand-in-host.ts'

/** A step of the stand-in host. `name` is that of the command that it carries out, for the id of what that makes. */
export function standInStep(world: World, input: Pick<StepInput, 'by' | 'answer'>, name = ''): Step {
  const host = { ...standInHost, ids: new SpokenIds(world, name) }
  const bodies = new StandInBodies()
  const desks = new Wishes<string, TaskDesk>((task) => {
    const record = world.taskRecords.get(task)
    if (record?.started == null) return undefined
    const desk = buildDesk({ world, bodies, key: standInKey, host }, record)
    desks.set(task, desk)
    return desk
  })
  const base: StepBase = {
    host,
    scope: standInScope,
    world,
    bodies,
    desks,
    key: standInKey,
    head: { seq: world.seq, step: world.commit.step, hash: '', lastId: '' },
    owner: { id: standInHost.instance.id, epoch: 1 },
    control: { version: 0, isRevoked: () => false, isDisabled: () => false },
    closing: false,
    received: () => 0,
    expand,
  }
  return new Step(base, { ...input, cause: null, command: null })
}

/**
 * Owns: the ids of one step. The first one is that of what the command makes, and is spoken: `task-2`. The others only increase, as
 * those of facts must.
 */
class SpokenIds implements Ids {
  readonly #first: string | null
  readonly #seq: number
  #count = 0

  constructor(world: World, name: string) {
    this.#first = madeBy(world, name)
    this.#seq = world.seq
  }

  next(): string {
    this.#count += 1
    if (this.#count === 1 && this.#first !== null) return this.#first
    return `id-${String(this.#seq).padStart(6, '0')}-${String(this.#count).padStart(4, '0')}`
  }
}

const makers: Readonly<Record<string, 'task' | 'message' | 'group'>> = {
  start: 'task',
  followUp: 'task',
  supersede: 'task',
  spawn: 'task',
  steer: 'message',
  createGroup: 'group',
}

function madeBy(world: World, name: string): string | null {
  const made = makers[name]
  if (made === undefined) return null
  if (made === 'message') return `message-${world.seq + 1}`
  const taken = made === 'task' ? world.taskRecords : world.groups
  let count = 1
  while (taken.has(`${made}-${count}`)) count += 1
  return `${made}-${count}`
}
