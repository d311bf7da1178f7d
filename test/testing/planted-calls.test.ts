import {
  acknowledged,
  answered,
  assistantSaid,
  callCancelled,
  callHeld,
  callRequested,
  callStarted,
  callUnknown,
  child,
  digest,
  opened,
  quarantined,
  started,
  steered,
  turn,
} from './drafts.ts'
import type { Steps, TestDraft } from './log-builder.ts'
import { after, altered, before, describePlanted, without } from './plant.ts'
import { approvalLog, replacementLog } from './valid-logs.ts'
import { crashTrace, interruptTrace, supersedeTrace } from './worked-traces.ts'

const execute = { level: 'execute', confirm: 'none' } as const
const discover = { level: 'discover', confirm: 'none' } as const

/** A turn whose grants are known, with one call of `tool:look` requested. */
function granted(grant: { level: 'execute' | 'discover'; confirm: 'none' | 'each' }): Steps {
  const [created, , ...rest] = turn('T1')
  if (created === undefined) throw new Error('a turn begins with its creation')
  const call = callRequested('T1', 'C1', 'look', 'read')
  const ref = { id: 'tool:look', generation: 1, contract: 'sha256:00', provider: 'host', binding: 1 }
  return [
    [opened, created, started('T1', { 'tool:look': grant }), ...rest],
    [
      answered('T1', [['C1', 'look']]),
      assistantSaid('T1', [['C1', 'look']]),
      { ...call, data: { ...call.data, ref } } as TestDraft,
      callStarted('T1', 'C1'),
    ],
  ]
}

function reduced(before: object, after: object): TestDraft {
  return { type: 'grant.reduced', task: 'T1', data: { id: 'tool:look', before, after } } as TestDraft
}

describePlanted('calls and grants', {
  'INV-03': [
    [
      'a call held after the gate is shut',
      after(supersedeTrace, ['task.cancelling'], callHeld('T1', 'C1', 'approval', 'P')),
      ['call.held'],
    ],
    [
      'a call started after the gate is shut',
      after(supersedeTrace, ['task.quiescing'], callStarted('T1', 'C1', 2)),
      ['call.started', 1],
    ],
  ],
  'INV-04': [
    ['two outcomes', after(supersedeTrace, ['call.finished'], callUnknown('T2', 'C2')), ['call.unknown', 1]],
    [
      'a late result of a call that has one',
      after(supersedeTrace, ['call.finished'], {
        type: 'call.late',
        task: 'T2',
        call: 'C2',
        data: { outcome: 'failed', digest },
      }),
      ['call.late', 1],
    ],
    [
      'cancelled before a start that was made',
      after(supersedeTrace, ['call.started', 1], callCancelled('T2', 'C2', 'before_start')),
      ['call.cancelled'],
    ],
    [
      'a lost idempotent call that is refused',
      after(crashTrace, ['call.held'], {
        type: 'call.refused',
        task: 'T1',
        call: 'C2',
        data: { code: 'AUTHORIZATION_DENIED' },
      }),
      ['call.refused'],
    ],
    [
      'an outcome other than the verified one',
      after(
        supersedeTrace,
        ['call.started', 2],
        { type: 'call.verifying', task: 'T2', call: 'C3', data: { deadline: '2026-01-01T00:00:10.000Z' } },
        { type: 'call.verified', task: 'T2', call: 'C3', data: { outcome: 'failed' } },
      ),
      ['call.finished', 1],
    ],
  ],
  'INV-05': [
    [
      'a mutating call that starts during quarantine',
      without(supersedeTrace, ['mutation.acknowledged']),
      ['call.started', 2],
    ],
    [
      'an idempotent call that starts during quarantine',
      without(crashTrace, ['mutation.acknowledged']),
      ['call.started', 4],
    ],
    ['an unknown that is not quarantined', without(supersedeTrace, ['mutation.quarantined']), ['call.unknown']],
    [
      'quarantine of a call whose outcome is known',
      after(supersedeTrace, ['call.finished'], quarantined('T2', 'C2')),
      ['mutation.quarantined', 1],
    ],
    [
      'an acknowledgement of nothing',
      after(supersedeTrace, ['mutation.acknowledged'], acknowledged('C1')),
      ['mutation.acknowledged', 1],
    ],
    [
      'a hold for a quarantine that is empty',
      before(approvalLog, ['pause.requested'], callHeld('T1', 'C1', 'quarantine')),
      ['call.held'],
    ],
  ],
  'INV-10': [
    [
      'a grant that grows',
      [...granted(execute), [reduced(execute, discover)], [reduced(discover, execute)]],
      ['grant.reduced', 1],
    ],
    [
      'a confirmation that is loosened',
      [...granted({ ...execute, confirm: 'each' }), [reduced({ ...execute, confirm: 'each' }, execute)]],
      ['grant.reduced'],
    ],
    ['a reduction from what it is not', [...granted(execute), [reduced(discover, discover)]], ['grant.reduced']],
    [
      'a child that may more than its parent',
      [...granted(discover), [child('B1', { parent: 'T1' }), started('B1', { 'tool:look': execute })]],
      ['task.started', 1],
    ],
  ],
  'INV-11': [
    ['a call that starts unrequested', without(supersedeTrace, ['call.requested']), ['call.started']],
    [
      'a call the answer did not ask for',
      altered(supersedeTrace, ['call.requested'], { name: 'other' }),
      ['call.requested'],
    ],
    ['an attempt that is not the next', altered(crashTrace, ['call.started', 3], { attempt: 3 }), ['call.started', 3]],
    [
      'a call of an unknown name',
      altered(supersedeTrace, ['call.requested', 1], { effect: undefined }),
      ['call.started', 1],
    ],
    [
      'a start although an interrupt is pending',
      after(replacementLog, ['call.requested'], steered('T1', 'M0', 'interrupt')),
      ['call.started'],
    ],
    ['a held call that outlives an interrupt', without(interruptTrace, ['call.cancelled']), ['steering.queued']],
    ['a grant that does not suffice', granted(discover), ['call.started']],
    ['a confirmation that nobody gave', granted({ ...execute, confirm: 'each' }), ['call.started']],
    ['a start while its own pause is open', without(approvalLog, ['pause.settled']), ['call.started']],
  ],
  'INV-22': [
    [
      'a mutating call that starts twice',
      after(supersedeTrace, ['call.started'], callStarted('T1', 'C1', 2)),
      ['call.started', 1],
    ],
    [
      'a mutating call that is tried again',
      [
        ...crashTrace.slice(0, 2),
        [{ type: 'call.interrupted', task: 'T1', call: 'C3', data: { attempt: 1 } }, callStarted('T1', 'C3', 2)],
      ],
      ['call.started', 3],
    ],
    [
      'a mutating call that starts after its outcome',
      after(crashTrace, ['mutation.acknowledged'], callStarted('T1', 'C3', 2)),
      ['call.started', 4],
    ],
    [
      'an unknown effect called a cancel',
      after(supersedeTrace, ['call.started'], callCancelled('T1', 'C1', 'interrupted')),
      ['call.cancelled'],
    ],
  ],
})
