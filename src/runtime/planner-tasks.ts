import { awaitedTasks, descendantsOf } from '../../machines/decide-background.ts'
import { refusedSpawn } from '../../machines/spawn-refusals.ts'
import type { Join } from '../../machines/wait.ts'
import type { PlannerInput } from '../capabilities/planner-tools.ts'
import { toldResult } from './background-results.ts'
import { type Asked, type Begun, failed, type Performed, type Told } from './planner-result.ts'
import { spawnRequest } from './spawn-request.ts'
import type { Step } from './step.ts'

/** A background task below the caller. The call's id is its key: however often the answer is worked off, there is one task. */
export function spawn({ step, task, call }: Asked, input: PlannerInput<'task_spawn'>): Performed {
  const { propagate = 'cascade', group, limits } = input
  const body = { input: input.input, parent: task, propagate, group, limits }
  const request = spawnRequest(step, body)
  const refused = refusedSpawn(step.world, {
    parent: task,
    idempotencyKey: call,
    request,
    ...(group === undefined ? {} : { group }),
  })
  if (refused !== null) {
    step.base.bodies.inputs.delete(request.task)
    return failed(refused.code, refused.message, refused.details)
  }
  const { task: child, ...given } = request
  const data = {
    kind: 'background',
    origin: 'spawn',
    requires: 'none',
    watermark: step.world.seq,
    ...given,
    parent: task,
    propagate,
    ...(group === undefined ? {} : { group }),
    idempotencyKey: call,
  } as const
  return { facts: [{ type: 'task.created', task: child, data }], result: { task: child } }
}

/** Begins to wait for tasks below the caller, or for a group that it is no member of. Without a name: for all that it spawned. */
export function join({ step, task, call }: Asked, input: PlannerInput<'task_await'>): Performed | Begun {
  const { tasks, group, waitMs } = input
  if (tasks !== undefined && group !== undefined) return failed('INVALID_INPUT', 'Name tasks or a group, not both.')
  const deadline = waitMs === undefined ? {} : { deadline: step.after(waitMs) }
  if (group !== undefined) {
    if (!step.world.groups.has(group)) return failed('INVALID_INPUT', 'There is no such group.', { group })
    if (awaitedTasks(step.world, { tasks: [], group }).includes(task))
      return failed('INVALID_INPUT', 'The caller is a member of this group, and would wait for itself.', { group })
    return begun(task, { forCall: call, group, ...deadline })
  }
  const below = descendantsOf(step.world, task)
  const named = tasks ?? [...below].filter((id) => step.world.taskRecords.get(id)?.created.parent === task)
  const strange = named.filter((id) => !below.has(id))
  if (strange.length > 0)
    return failed('INVALID_INPUT', 'Only tasks below the caller can be waited for.', { tasks: strange })
  if (named.length === 0) return { facts: [], result: { results: [], how: 'done' } }
  return begun(task, { forCall: call, tasks: [...new Set(named)], ...deadline })
}

function begun(
  task: string,
  data: { forCall: string; tasks?: readonly string[]; group?: string; deadline?: string },
): Begun {
  return { facts: [{ type: 'task.awaiting', task, data }], waits: true }
}

/** What the model is told of its await; null while it goes on. */
export function joined(step: Step, { settled }: Join): Told | null {
  if (settled === null) return null
  const { bodies, world } = step.base
  const results = settled.results.map((result) => toldResult(bodies, world, result))
  return { text: JSON.stringify({ results, how: settled.how }) }
}
