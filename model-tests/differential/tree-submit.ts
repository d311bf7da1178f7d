import { isLandfallError } from '../../src/facts/errors.ts'
import type { Session } from '../../src/runtime/session.ts'
import type { Command, Spawn } from '../reference/commands.ts'
import { isGoing, isTerminal, type Model } from '../reference/model.ts'
import type { TreeMove } from './tree-moves.ts'

/** What the session answered: an id of a new task or group where there is one. */
export interface Answered {
  readonly result?: string
  readonly id?: string
  readonly code?: string
}

export interface TreeNames {
  readonly model: Model
  readonly id: (name: string) => string
  readonly next: (letter: string) => string
  /** The input of a task; a new one is given its own, or that of its key. */
  readonly inputOf: (name: string, key?: number) => string
}

export function oneOf<T>(list: readonly T[], age: number): T | undefined {
  return list[age % Math.max(list.length, 1)]
}

/** The command of an operator's move in the words of the reference model; null when it has nothing to act on. */
export function commandOf(move: TreeMove, names: TreeNames): Command | null {
  const { model, next } = names
  switch (move.do) {
    case 'spawn':
      return spawnOf(move, names)
    case 'group':
      return model.groups.length > 1 ? null : { type: 'group', id: next('G'), failFast: move.failFast }
    case 'seal':
    case 'cancelGroup': {
      const group = model.groups[move.group]
      const open = group?.state === 'open' || (move.do === 'cancelGroup' && group?.state === 'sealed')
      return group === undefined || !open || model.lifecycle !== 'open' ? null : { type: move.do, group: group.id }
    }
    case 'cancel': {
      const living = model.tasks.filter((task) => !isTerminal(task))
      const task = move.task > 4 ? model.tasks[move.task] : oneOf(living, move.task)
      return task === undefined ? null : { type: 'cancel', task: task.id }
    }
    case 'steer': {
      const task = oneOf(model.tasks, move.task)
      return task === undefined ? null : { type: 'steer', id: next('S'), task: task.id, mode: move.mode }
    }
    default:
      return plain(move.do, names)
  }
}

function plain(what: TreeMove['do'], { next, inputOf }: TreeNames): Command | null {
  if (what === 'acknowledge') return { type: 'acknowledge', calls: 'all' }
  if (what === 'close') return { type: 'close', cancel: true }
  if (what === 'reopen') return { type: 'reopen' }
  if (what !== 'start' && what !== 'supersede') return null
  const id = next('T')
  inputOf(id)
  return { type: what, id }
}

function spawnOf(
  { parent, propagate, group, key }: Extract<TreeMove, { do: 'spawn' }>,
  { model, next, inputOf }: TreeNames,
): Spawn | null {
  const above = parent === undefined ? undefined : oneOf(model.tasks.filter(isGoing), parent)
  if (parent !== undefined && above === undefined) return null
  const member = group === undefined ? undefined : model.groups[group]?.id
  const id = next('T')
  return {
    type: 'spawn',
    id,
    propagate,
    input: inputOf(id, key),
    ...(above === undefined ? {} : { parent: above.id }),
    ...(member === undefined ? {} : { group: member }),
    ...(key === undefined ? {} : { key: `k${key}` }),
  }
}

/** The same command to the session. */
export async function sent(session: Session, command: Command, names: TreeNames): Promise<Answered> {
  try {
    return await send(session, command, names)
  } catch (error) {
    if (isLandfallError(error)) return { code: error.code }
    throw error
  }
}

function answered(task: { readonly receipt: { readonly result: string }; readonly id: string }): Answered {
  return { result: task.receipt.result, id: task.id }
}

async function send(session: Session, command: Command, { id, inputOf }: TreeNames): Promise<Answered> {
  switch (command.type) {
    case 'start':
      return answered(await session.start(inputOf(command.id)))
    case 'supersede':
      return answered(await session.supersede(inputOf(command.id)))
    case 'spawn': {
      const { parent, group, key, propagate = 'cascade', input = '' } = command
      const under = parent === undefined ? {} : { parent: id(parent) }
      const joined = group === undefined ? {} : { group: id(group) }
      const keyed = key === undefined ? {} : { idempotencyKey: key }
      return answered(await session.spawn(input, { propagate, ...under, ...joined, ...keyed }))
    }
    case 'group':
      return { result: 'applied', id: (await session.group({ failFast: command.failFast })).id }
    case 'seal':
      return session.groupOf(id(command.group)).seal()
    case 'cancelGroup':
      return session.groupOf(id(command.group)).cancel()
    case 'cancel':
      return session.cancel({ task: id(command.task ?? '') })
    case 'steer':
      return session.steer('mind the gap', { task: id(command.task ?? ''), mode: command.mode ?? 'boundary' })
    case 'acknowledge':
      return session.acknowledge('all')
    case 'close':
      return session.close({ cancel: true })
    default:
      return session.reopen()
  }
}
