import type { AnyMachineSnapshot } from 'xstate'
import type { CallContext } from '../../machines/call.machine.ts'
import type { Fact } from '../../machines/facts.ts'
import { callMachine } from '../../machines/public.ts'
import type { Effect } from '../../machines/vocabulary.ts'
import { sampleId } from '../../test/facts/sample-facts.ts'
import { sampleFact } from './sample-fact.ts'
import type { Journey } from './walk.ts'

const where = { task: sampleId(10), call: sampleId(30) }
const token = sampleId(60)

function birth(effect: Effect | null): Fact {
  const { effect: _, ...unknownName } = sampleFact('call.requested', {}, where).data
  const fact = sampleFact('call.requested', {}, where)
  return { ...fact, data: effect === null ? unknownName : { ...unknownName, effect } }
}

/** The attempt that is next, the one that was before, and one that skips. */
function startFacts(attempts: number): readonly Fact[] {
  return [1, 0, 2].map((more) => sampleFact('call.started', { attempt: attempts + more }, where))
}

function facts(snapshot: AnyMachineSnapshot): readonly Fact[] {
  const { attempts }: CallContext = snapshot.context
  return [
    sampleFact('call.refused', {}, where),
    sampleFact('call.held', { reason: 'quarantine' }, where),
    sampleFact('call.held', { reason: 'approval', token }, where),
    ...(attempts < 3 ? startFacts(attempts) : []),
    sampleFact('call.aborting', { reason: 'cancel' }, where),
    sampleFact('call.aborting', { reason: 'deadline' }, where),
    sampleFact('call.interrupted', { attempt: attempts }, where),
    sampleFact('call.finished', { outcome: 'succeeded' }, where),
    sampleFact('call.finished', { outcome: 'failed', code: 'THREW' }, where),
    sampleFact('call.cancelled', {}, where),
    sampleFact('call.unknown', {}, where),
    sampleFact('call.verifying', {}, where),
    sampleFact('call.verified', {}, where),
    sampleFact('call.late', {}, where),
  ]
}

export const callJourney: Journey = {
  machine: callMachine,
  births: [birth('read'), birth('idempotent'), birth('mutate'), birth(null)],
  alphabets: [facts],
  project: ({ value, context }) => {
    const { effect, attempts, hold, token: open, aborted }: CallContext = context
    return [value, effect, attempts, hold, open, aborted]
  },
  statesMax: 2_000,
}
