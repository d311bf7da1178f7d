import { isAsk } from '../../../machines/agenda.ts'
import { decide } from '../../../machines/decide.ts'
import type { Draft, Fact } from '../../../machines/facts.ts'
import type { World } from '../../../machines/world.ts'
import { LandfallError } from '../../facts/errors.ts'
import type { Ids } from '../../facts/ports.ts'
import type { OperatorRequest, Receipt } from '../../runtime/command.ts'
import { type CommandName, checkBody, commandBodies, isCommandName } from '../../runtime/command-bodies.ts'
import { buildDesk } from '../../runtime/desk-builder.ts'
import { expand } from '../../runtime/expand.ts'
import { operatorRequest } from '../../runtime/operator-requests.ts'
import { planOperator } from '../../runtime/plan-operator.ts'
import { Step, type StepBase } from '../../runtime/step.ts'
import type { TaskDesk } from '../../runtime/task-desk.ts'
import { StandInBodies, Wishes } from './stand-in-bodies.ts'
import { standInHost, standInKey, standInScope } from './stand-in-host.ts'

/** A command as it is sent to a session: its name beside its words. */
export interface GivenCommand {
  readonly name: string
  readonly [word: string]: unknown
}

export type PlannedCommand =
  | { readonly result: Receipt['result']; readonly facts: readonly Fact[] }
  | {
      readonly result: 'refused'
      readonly code: string
      readonly message: string
      /** What would have happened first, had the charts let it. */
      readonly offered: Draft | null
    }

/** Plans the step of a command exactly as a runtime does, on a world that may be thrown away. */
export function planCommand(copy: () => World, given: unknown): PlannedCommand {
  const { name, body } = commandOf(given)
  let request: OperatorRequest | null = null
  try {
    request = operatorRequest(standInHost, standInScope, { name, body: checkBody(name, body) })
    const step = stepOn(copy(), request)
    const { receipt } = planOperator(step, request)
    return { result: receipt.result, facts: step.facts as unknown[] as Fact[] }
  } catch (error) {
    const { code, message } = refusalOf(error)
    return { result: 'refused', code, message, offered: request === null ? null : firstOf(copy(), request) }
  }
}

function commandOf(given: unknown): { name: CommandName; body: object } {
  const { name, ...body } = (given ?? {}) as GivenCommand
  if (typeof name === 'string' && isCommandName(name)) return { name, body }
  throw new LandfallError(
    'INVALID_INPUT',
    `A command has a name, one of ${Object.keys(commandBodies).join(', ')}, and its words beside it.`,
    { details: { field: 'command' } },
  )
}

function stepOn(world: World, { name, by }: OperatorRequest): Step {
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
  return new Step(base, { by, cause: null, command: null })
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
  let count = taken.size + 1
  while (taken.has(`${made}-${count}`)) count += 1
  return `${made}-${count}`
}

/** The chart that a refusal comes from is asked again, to see which guard it was. */
function firstOf(world: World, request: OperatorRequest): Draft | null {
  try {
    const decided = decide(world, request.build(stepOn(world, request)))
    const first = decided.kind === 'step' ? decided.agenda[0] : undefined
    return first === undefined || isAsk(first) ? null : (first as Draft)
  } catch {
    return null
  }
}

/** Facts that are played by hand may lead to where no runtime comes, and there its steps break. */
function refusalOf(error: unknown): { code: string; message: string } {
  if (error instanceof LandfallError && error.code !== 'INTERNAL') return { code: error.code, message: error.message }
  return {
    code: 'INVALID_INPUT',
    message:
      'No runtime carries a command out here: facts that were played by hand left something undone. Play what they asked for first.',
  }
}
