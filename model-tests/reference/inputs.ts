import type { Command, Spawn } from './commands.ts'
import type { WorldEvent } from './events.ts'
import { emptyModel, type Model, observe, type Verdict } from './model.ts'
import { apply } from './reference-model.ts'

/** Short names for what the tests of the reference model put in. The first letter of a call's id tells its effect. */

export type Input = Command | WorldEvent

export function run(...inputs: Input[]): { model: Model; last: Verdict; seen: ReturnType<typeof observe> } {
  let model = emptyModel()
  let last: Verdict = { results: [] }
  for (const input of inputs) ({ model, verdict: last } = apply(model, input))
  return { model, last, seen: observe(model) }
}

export const start = (id: string): Input => ({ type: 'start', id })
export const steer = (id: string, mode: 'boundary' | 'interrupt' = 'boundary'): Input => ({ type: 'steer', id, mode })
export const followUp = (id: string, requires: 'none' | 'success' = 'none'): Input => ({
  type: 'followUp',
  id,
  requires,
})
export const supersede = (id: string): Input => ({ type: 'supersede', id })
export const cancel: Input = { type: 'cancel' }
export const final = (task: string): Input => ({ type: 'answer', task, calls: [] })
export const calls = (task: string, ...ids: string[]): Input => ({
  type: 'answer',
  task,
  calls: ids.map((id) => ({ id, effect: id.startsWith('r') ? 'read' : id.startsWith('i') ? 'idempotent' : 'mutate' })),
})
export const ends = (call: string, outcome: 'succeeded' | 'failed' | 'unknown' | 'cancelled' = 'succeeded'): Input => ({
  type: 'outcome',
  call,
  outcome,
})
export const acknowledgeAll: Input = { type: 'acknowledge', calls: 'all' }
export const spawn = (id: string, extra: Omit<Spawn, 'type' | 'id'> = {}): Input => ({ type: 'spawn', id, ...extra })
export const group = (id: string, failFast = false): Input => ({ type: 'group', id, failFast })
export const seal = (id: string): Input => ({ type: 'seal', group: id })
export const refused = (task: string): Input => ({ type: 'refused', task })
export const awaits = (task: string, on: { readonly tasks?: readonly string[]; readonly group?: string }): Input => ({
  type: 'answer',
  task,
  calls: [],
  awaits: on,
})
