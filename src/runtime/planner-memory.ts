import { memoryBound } from '../../machines/decide.ts'
import type { PlannerInput } from '../capabilities/planner-tools.ts'
import { LandfallError } from '../facts/errors.ts'
import type { ModelAnswer } from '../models/read-stream.ts'
import { checkedKey, noteBody } from './memory-note.ts'
import { notePut } from './operator-requests.ts'
import { type Asked, failed, type Performed } from './planner-result.ts'
import { type MemoryReader, readShared } from './read-memory.ts'

/** What stands for a note that is not there. */
const absent = ''

/** A note of the memory that is named; the result says which one it looked in. */
export function getNote(asked: Asked, { key, scope = 'session' }: PlannerInput<'memory_get'>): Performed {
  const { step, call } = asked
  return guarded(() => {
    const name = checkedKey(step.base.host.limits, key)
    const own = scope === 'session' ? (step.base.bodies.memory.get(step.digest(name)) ?? absent) : undefined
    const body = own ?? step.base.bodies.fetched.get(call)
    if (body === undefined) return failed('NOT_AT_HAND', 'The note could not be read in time. Ask again.')
    return {
      facts: [],
      result: body === absent ? { scope, found: false } : { scope, found: true, value: JSON.parse(body) as unknown },
    }
  })
}

export function putNote(asked: Asked, { key, value }: PlannerInput<'memory_put'>): Performed {
  const { step, task } = asked
  return guarded(() => {
    const { limits } = step.base.host
    const name = checkedKey(limits, key)
    const body = noteBody(limits, value)
    const { world } = step
    const bound = memoryBound(world)
    if (!world.memory.has(step.digest(name)) && world.memory.size >= bound)
      return failed('LIMIT_EXCEEDED', 'There are as many notes as there may be.', { which: 'memoryItems', bound })
    const data = { ...notePut(step, name, body), scope: 'session' as const }
    return { facts: [{ type: 'memory.put', task, data }], result: { scope: 'session', noted: true } }
  })
}

function guarded(perform: () => Performed): Performed {
  try {
    return perform()
  } catch (error) {
    if (!(error instanceof LandfallError)) throw error
    return failed(error.code, error.message, error.details)
  }
}

/** Notes of the user and the tenant that an answer asks for, from the store: a step cannot wait, so they are at hand before it. */
export async function fetchNotes(
  reader: Omit<MemoryReader, 'look'>,
  calls: ModelAnswer['calls'],
): Promise<ReadonlyMap<string, string>> {
  const fetched = new Map<string, string>()
  for (const { id, name, arguments: args } of calls) {
    if (name !== 'memory_get' || (args.scope !== 'user' && args.scope !== 'tenant')) continue
    const found = await readShared(reader, args.key, args.scope).catch(() => undefined)
    if (found !== undefined) fetched.set(id, found === null ? absent : JSON.stringify(found.value))
  }
  return fetched
}
