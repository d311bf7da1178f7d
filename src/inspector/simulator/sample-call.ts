import type { CallContext } from '../../../machines/call.machine.ts'
import type { FactOf } from '../../../machines/facts.ts'
import { type SampleEvent, sample, sampleDigest, sampleFact } from './sample-fact.ts'
import { sampleTime } from './sample-time.ts'
import { effectOf } from './stand-in-host.ts'

export const callInput: FactOf<'call.requested'> = sampleFact(
  'call.requested',
  {
    name: 'shop.order',
    ...effectOf('shop.order'),
    arguments: sampleDigest,
    bytes: 20,
    batch: 0,
    index: 0,
  },
  { seq: 1, task: 'task-1', call: 'call-1' },
)

const finished = { outcome: 'succeeded', digest: sampleDigest, bytes: 40, durationMs: 3 } as const

/** Facts that may come next for a call, made to fit what it holds. */
export function callSamples(context: CallContext): readonly SampleEvent[] {
  const where = { seq: context.seq + 1, task: context.task, call: context.id }
  return [
    sample('call.started', { attempt: context.attempts + 1, control: 0 }, where),
    sample('call.held', { reason: 'approval', token: 'pause-1' }, where),
    sample('call.refused', { code: 'AUTHORIZATION_DENIED' }, where),
    sample('call.finished', finished, { ...where, what: 'succeeded' }),
    sample('call.finished', { ...finished, outcome: 'failed', code: 'THREW' }, { ...where, what: 'failed' }),
    sample('call.cancelled', { when: 'acknowledged' }, where),
    sample('call.unknown', { reason: 'grace' }, where),
    sample('call.interrupted', { attempt: context.attempts }, where),
    sample('call.aborting', { reason: 'cancel', graceUntil: sampleTime }, where),
    sample('call.verifying', { deadline: sampleTime }, where),
    sample('call.verified', { outcome: 'unknown' }, where),
    sample('call.late', { outcome: 'succeeded', digest: sampleDigest }, where),
  ]
}
