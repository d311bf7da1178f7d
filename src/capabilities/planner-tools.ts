import { z } from 'zod'
import { limits } from '../facts/limits.ts'
import { ownLimits } from '../facts/own-limits.ts'
import type { ModelTool } from '../facts/ports.ts'
import { jsonSchemaOf, type ToolSchema, validateArguments } from './tool-schema.ts'

const text = z.string().min(1).max(limits.freeTextChars)
const place = z.number().int().nonnegative()
const wait = z.number().int().min(1).max(limits.deadlineMs)
const pageLimit = z.number().int().min(1).max(limits.capabilityPageMaxItems)

/** What each planner tool takes. Short on purpose: every request carries all of them. */
const inputs = {
  capabilities_list: z.strictObject({ after: text.optional(), limit: pageLimit.optional() }),
  capabilities_search: z.strictObject({ query: text, limit: pageLimit.optional() }),
  capabilities_inspect: z.strictObject({ id: text }),
  tools_load: z.strictObject({ names: z.array(text).min(1).max(limits.capabilityPageItems) }),
  skills_activate: z.strictObject({ name: text }),
  observation_read: z.strictObject({ observation: text, offset: place.optional(), length: place.optional() }),
  memory_get: z.strictObject({ key: z.string().min(1), scope: z.enum(['session', 'user', 'tenant']).optional() }),
  memory_put: z.strictObject({ key: z.string().min(1), value: z.unknown() }),
  episode_start: z.strictObject({
    kind: z.enum(['exploration', 'action']),
    goal: z.string().min(1),
    basedOn: z.array(text).optional(),
  }),
  episode_end: z.strictObject({ conclusion: z.string().min(1).optional() }),
  task_spawn: z.strictObject({
    input: z.string().min(1),
    propagate: z.enum(['cascade', 'isolate']).optional(),
    group: text.optional(),
    limits: ownLimits.optional(),
  }),
  task_await: z.strictObject({
    tasks: z.array(text).min(1).optional(),
    group: text.optional(),
    waitMs: wait.optional(),
  }),
  operator_ask: z.strictObject({ question: z.string().min(1).max(limits.descriptionChars), waitMs: wait.optional() }),
} as const

export type PlannerToolName = keyof typeof inputs
export type PlannerInput<N extends PlannerToolName> = z.output<(typeof inputs)[N]>

const descriptions: { readonly [N in PlannerToolName]: string } = {
  capabilities_list: 'Lists tools and skills, by id.',
  capabilities_search: 'Searches tools and skills.',
  capabilities_inspect: 'Shows a contract.',
  tools_load: 'Makes tools callable from the next step on.',
  skills_activate: 'Shows the text of a skill for one step.',
  observation_read: 'Reads a range of an output kept outside; offset and length in bytes.',
  memory_get: 'Reads a note.',
  memory_put: 'Keeps a note under a key, for later turns.',
  episode_start: 'Begins an exploration, or an action based on ended explorations.',
  episode_end: 'Ends the open episode.',
  task_spawn: 'Begins work in the background, which sees this input only.',
  task_await: 'Waits for background tasks of yours, or all of them; waitMs bounds it.',
  operator_ask: 'Asks the operator, and waits for the answer.',
}

const names = Object.keys(inputs).sort() as readonly PlannerToolName[]

/** In every request, before the tools of the host. */
export const plannerDefinitions: readonly ModelTool[] = Object.freeze(
  names.map((name) =>
    Object.freeze({ name, description: descriptions[name], inputSchema: jsonSchemaOf(inputs[name]) }),
  ),
)

export function isOfferedPlannerTool(name: string): name is PlannerToolName {
  return Object.hasOwn(inputs, name)
}

export type PlannerArguments<N extends PlannerToolName> =
  | { readonly ok: true; readonly value: PlannerInput<N> }
  | { readonly ok: false; readonly problem: string }

/** The arguments as the tool takes them, or what is wrong with them, in words for the model. */
export function plannerArguments<N extends PlannerToolName>(name: N, value: unknown): PlannerArguments<N> {
  const checked = validateArguments(inputs[name] as ToolSchema, value)
  if (checked.ok) return { ok: true, value: checked.value as PlannerInput<N> }
  const told = checked.issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return { ok: false, problem: told.join('; ') }
}
