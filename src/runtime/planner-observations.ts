import type { PlannerInput } from '../capabilities/planner-tools.ts'
import { bytesOfCharBefore, wholeCharsEnd } from '../workspace/text-window.ts'
import { type Asked, failed, type Performed } from './planner-result.ts'

/** A range of an output that is kept outside of the conversation, cut where a character ends. */
export function readObservation(asked: Asked, input: PlannerInput<'observation_read'>): Performed {
  const { step, call } = asked
  const { observation, offset = 0, length } = input
  const body = step.base.bodies.fetched.get(call)
  if (body === undefined)
    return failed('NOT_FOUND', 'No such observation is at hand. Name one that the conversation shows.')
  const bytes = Buffer.from(body)
  const bound = step.base.host.limits.observationReadBytes
  const window = bytes.subarray(offset, offset + Math.min(length ?? bound, bound))
  const first = bytesOfCharBefore(window)
  const end = wholeCharsEnd(window)
  const text = window.subarray(first, end).toString('utf8')
  const next = offset + end
  const more = next < bytes.length && end > first ? { next } : {}
  return { facts: [], result: { observation, offset: offset + first, size: bytes.length, ...more, text } }
}
