import { type CommandOf, create, type Spawn } from './commands.ts'
import { isGoing, isTerminal, type Model, type RefTask, refuse, taskOf, type Verdict } from './model.ts'
import { boundary, endMembers } from './scheduling.ts'

/** Background tasks and their groups. */

function keyed(model: Model, { key, parent, propagate = 'cascade', group, input }: Spawn) {
  return {
    key,
    request: JSON.stringify([parent, propagate, group, input]),
    known: model.keys.find((each) => each.key === key),
  }
}

function mayJoin(model: Model, id: string | undefined): readonly string[] {
  if (id === undefined) return []
  const group = model.groups.find((each) => each.id === id)
  if (group === undefined) return ['NOT_FOUND', 'INVALID_INPUT']
  return group.state === 'open' ? [] : ['GROUP_SEALED']
}

function mayGrow(model: Model, parent: RefTask | undefined): readonly string[] {
  const depth = parent === undefined ? 1 : depthOf(model, parent.id) + 1
  const living = model.tasks.filter((task) => task.kind === 'background' && !isTerminal(task))
  return depth > model.depthBound || living.length >= model.childBound ? ['LIMIT_EXCEEDED'] : []
}

/**
 * It starts at once. The pages do not say what a parent that has ended or is ending does; such a parent is refused here, and the
 * caller keeps away from it.
 */
export function spawn(model: Model, command: Spawn): Verdict {
  const { key, request, known } = keyed(model, command)
  if (known !== undefined)
    return known.request === request
      ? { results: ['applied', 'joined', 'duplicate'], task: known.task }
      : refuse('IDEMPOTENCY_CONFLICT')
  const parent = taskOf(model, command.parent ?? null)
  if (command.parent !== undefined && (parent === undefined || !isGoing(parent)))
    return refuse('NOT_FOUND', 'TASK_NOT_ACTIVE', 'TASK_CANCELLING', 'INVALID_INPUT', 'INVALID_TRANSITION')
  // Where more than one of them holds, the pages do not say which is told.
  const codes = [...mayJoin(model, command.group), ...mayGrow(model, parent)]
  if (codes.length > 0) return refuse(...codes)
  const { propagate = 'cascade', group = null } = command
  const task = create(model, command.id, { kind: 'background', parent: command.parent ?? null, propagate, group })
  if (key !== undefined) model.keys.push({ key, task: task.id, request })
  task.state = 'running'
  boundary(model, task)
  return { results: ['applied'], task: task.id }
}

/** A turn is the root of its tree and counts as none. */
function depthOf(model: Model, id: string): number {
  const task = taskOf(model, id)
  if (task === undefined || task.kind === 'foreground') return 0
  return task.parent === null ? 1 : depthOf(model, task.parent) + 1
}

export function group(model: Model, { id, failFast }: CommandOf<'group'>): Verdict {
  model.groups.push({ id, failFast, state: 'open' })
  return { results: ['applied'] }
}

/** A sealed group resolves in the same step when nobody of it lives. */
export function seal(model: Model, command: CommandOf<'seal' | 'cancelGroup'>): Verdict {
  const found = model.groups.find(({ id }) => id === command.group)
  if (found === undefined) return refuse('NOT_FOUND')
  if (found.state !== 'open') return { results: ['joined', 'too_late', 'applied'] }
  found.state = 'sealed'
  return { results: ['applied'] }
}

export function cancelGroup(model: Model, command: CommandOf<'seal' | 'cancelGroup'>): Verdict {
  const found = model.groups.find(({ id }) => id === command.group)
  if (found === undefined) return refuse('NOT_FOUND')
  if (found.state === 'resolved' || found.state === 'cancelled') return { results: ['joined', 'too_late'] }
  found.state = 'cancelled'
  endMembers(model, found.id)
  return { results: ['applied'] }
}
