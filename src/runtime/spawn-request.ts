import type { TaskRequest } from '../../machines/commands.ts'
import type { Grant, JsonObject, Propagation } from '../../machines/vocabulary.ts'
import type { OwnLimits } from '../facts/own-limits.ts'
import { hold } from './held-content.ts'
import { sharedSystem } from './shared-system.ts'
import type { Step } from './step.ts'

interface Spawned {
  readonly input: string
  readonly parent?: string | undefined
  readonly propagate: Propagation
  readonly group?: string | undefined
  readonly limits?: { readonly [N in keyof OwnLimits]?: number | undefined } | undefined
  readonly model?: string | undefined
  readonly system?: string | undefined
  readonly settings?: JsonObject | undefined
  readonly grants?: { readonly [id: string]: Grant } | undefined
  readonly skills?: readonly string[] | undefined
}

/** A new background task with its input as content. `request` is what two spawns with one key are compared by. */
export function spawnRequest(step: Step, body: Spawned): TaskRequest {
  const { input, model, system, settings, grants, skills } = body
  const given = Object.entries(body.limits ?? {}).flatMap(([name, bound]) =>
    bound === undefined ? [] : [[name, bound] as const],
  )
  const task = step.newId()
  hold(step, step.base.bodies.inputs, task, input)
  return {
    task,
    input: step.put(input).digest,
    bytes: step.put(input).bytes,
    request: step.digest(JSON.parse(JSON.stringify(body))),
    ...(given.length === 0 ? {} : { limits: Object.fromEntries(given) }),
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system: sharedSystem(step, system) }),
    ...(settings === undefined ? {} : { settings }),
    ...(grants === undefined ? {} : { grants }),
    ...(skills === undefined || skills.length === 0 ? {} : { skills }),
  }
}
