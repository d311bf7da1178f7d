import type { FactOf } from '../../../machines/facts.ts'
import { pendingTasks, predecessorNow, type SessionContext } from '../../../machines/session-context.ts'
import type { Origin, Requirement } from '../../../machines/vocabulary.ts'
import {
  type SampleEvent,
  sample,
  sampleEnd,
  sampleFact,
  sampleInput,
  sampleSettings,
  sampleStarted,
} from './sample-fact.ts'
import { sampleTime } from './sample-time.ts'

export const sessionInput: FactOf<'session.opened'> = sampleFact(
  'session.opened',
  { settings: sampleSettings },
  { seq: 1 },
)

/** Facts that may come next in a session, made to fit what it holds. */
export function sessionSamples(context: SessionContext): readonly SampleEvent[] {
  return [...taskSamples(context), ...lifeSamples(context), ...quarantineSamples(context), ...otherSamples(context)]
}

function taskSamples(context: SessionContext): readonly SampleEvent[] {
  const seq = context.seq + 1
  const next = `task-${context.turns + Object.keys(context.tasks).length + 1}`
  const created = (origin: Origin, requires: Requirement = 'none') => {
    const kind = origin === 'spawn' ? 'background' : 'foreground'
    const predecessor = origin === 'follow_up' ? predecessorNow(context) : null
    const data = { ...sampleInput, kind, origin, requires, ...(predecessor === null ? {} : { predecessor }) } as const
    const what = requires === 'success' ? `${origin}, requires success` : origin
    return sample('task.created', data, { seq, task: next, what })
  }
  return [
    created('start'),
    created('follow_up'),
    created('follow_up', 'success'),
    created('supersede'),
    created('spawn'),
    ...pendingTasks(context).map((task) => sample('task.started', sampleStarted, { seq, task, what: task })),
    ...context.queue.flatMap(({ task, predecessor }) => [
      sample('task.blocked', { predecessor: predecessor ?? '', status: 'failed' }, { seq, task, what: task }),
      sample('task.unblocked', {}, { seq, task, what: task }),
    ]),
    ...Object.keys(context.tasks).flatMap((task) => endSamples(seq, task)),
  ]
}

function endSamples(seq: number, task: string): readonly SampleEvent[] {
  const where = { seq, task, what: task }
  const barrier = { status: 'cancelled', reason: 'asked for', graceUntil: sampleTime, steering: 'inherit' } as const
  return [
    sample('task.cancelling', barrier, where),
    sample('task.completed', sampleEnd, where),
    sample('task.failed', { ...sampleEnd, code: 'MODEL_FAILED' }, where),
    sample('task.cancelled', sampleEnd, where),
    sample('task.superseded', sampleEnd, where),
  ]
}

function lifeSamples({ seq: last }: SessionContext): readonly SampleEvent[] {
  const seq = last + 1
  return [
    sample('session.closing', { then: 'close' }, { seq, what: 'close' }),
    sample('session.closing', { then: 'erase' }, { seq, what: 'erase' }),
    sample('session.closed', {}, { seq }),
    sample('session.erased', {}, { seq }),
    sample('session.reopened', {}, { seq }),
  ]
}

function quarantineSamples({ seq: last, quarantine }: SessionContext): readonly SampleEvent[] {
  const seq = last + 1
  const [first] = quarantine
  return [
    sample('mutation.quarantined', { calls: [`call-${quarantine.length + 1}`] }, { seq }),
    ...(first === undefined || quarantine.length === 1
      ? []
      : [sample('mutation.acknowledged', { calls: [first] }, { seq, what: first })]),
    sample('mutation.acknowledged', { calls: quarantine }, { seq, what: 'all' }),
  ]
}

function otherSamples(context: SessionContext): readonly SampleEvent[] {
  const seq = context.seq + 1
  const orphan = context.orphans[0] ?? { from: 'task-1', messages: ['message-1'] }
  const restored = {
    from: '',
    turns: 2,
    revision: 9,
    usage: { input: 0, output: 0, total: 0 },
    quarantined: ['call-1'],
  }
  return [
    sample('session.owned', { owner: 'process-2', epoch: context.epoch + 1 }, { seq }),
    sample('session.restored', restored, { seq }),
    sample('settings.changed', { before: context.settings, after: context.settings }, { seq }),
    sample('steering.inherited', orphan, { seq, task: context.active }),
    sample('steering.expired', { messages: orphan.messages, reason: 'closing' }, { seq, task: orphan.from }),
  ]
}
