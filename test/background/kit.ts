import type { StoredFact } from '../../src/facts/envelope.ts'
import type { HeldRequest } from '../runtime/kit/held-model.ts'
import { openRig, type Rig, type RigOptions } from '../runtime/kit/rig.ts'

export const tools = { look: { effect: 'read' }, note: { effect: 'idempotent' }, pay: { effect: 'mutate' } } as const

export function openJobs(options: RigOptions = {}): Promise<Rig> {
  return openRig({ tools, requestTimeoutMs: 10 ** 9, ...options })
}

/** The newest request of the task with this input; several tasks ask side by side. */
export async function asked(rig: Rig, input: string): Promise<HeldRequest> {
  await rig.time.settle()
  const found = rig.model.asked.findLast(({ request }) =>
    request.messages.some(({ role, content }) => role === 'user' && content === input),
  )
  if (found === undefined) throw new Error(`nobody asked for ${input}`)
  return found
}

export async function statesOf(rig: Rig): Promise<readonly string[]> {
  await rig.time.settle()
  return (await rig.session.tasks()).map(({ state, status }) => status ?? state)
}

export async function factsOf<T extends StoredFact['type']>(
  rig: Rig,
  type: T,
): Promise<readonly Extract<StoredFact, { type: T }>[]> {
  return (await rig.facts()).filter((fact): fact is Extract<StoredFact, { type: T }> => fact.type === type)
}

/** What the model is told by the newest tool message of a request. */
export function told(request: HeldRequest): unknown {
  const message = request.request.messages.findLast(({ role }) => role === 'tool')
  return JSON.parse(message?.content ?? 'null')
}

/** A turn that waits for its model, and background tasks below it, each below the one that it names. */
export async function turnWith(rig: Rig, ...children: readonly (readonly [input: string, parent?: string])[]) {
  const turn = await rig.session.start('the turn')
  const ids = new Map([['turn', turn.id]])
  for (const [input, parent = 'turn'] of children)
    ids.set(input, (await rig.session.spawn(input, { parent: ids.get(parent) ?? '' })).id)
  return { turn, id: (name: string) => ids.get(name) ?? '' }
}
