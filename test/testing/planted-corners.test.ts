import {
  answered,
  assistantSaid,
  callCancelled,
  callHeld,
  callRequested,
  callUnknown,
  cancelling,
  created,
  ended,
  later,
  opened,
  pauseRequested,
  quiescing,
  said,
  steered,
  turn,
} from './drafts.ts'
import type { Steps, TestDraft } from './log-builder.ts'
import { after, altered, before, describePlanted, readdressed } from './plant.ts'
import {
  approvalLog,
  begin,
  cascadeLog,
  finish,
  queueLog,
  replacementLog,
  requestsLog,
  steeringLog,
} from './valid-logs.ts'
import { crashTrace, interruptTrace, supersedeTrace } from './worked-traces.ts'

const awaiting: TestDraft = { type: 'task.awaiting', task: 'T1', data: { tasks: ['B1'] } }
const verifying = (call: string): TestDraft => ({ type: 'call.verifying', task: 'T2', call, data: { deadline: later } })
const verified = (call: string): TestDraft => ({
  type: 'call.verified',
  task: 'T2',
  call,
  data: { outcome: 'succeeded' },
})
const turnOnly = queueLog.slice(0, 1)
const waitsForApproval = approvalLog.slice(0, 2)
const manySteers = Array.from({ length: 1025 }, (_, index) => [steered('T1', `M${index}`)])
/** A closed session keeps its replacement, which goes first at the reopening. */
const reopened: Steps = [
  ...replacementLog.slice(0, 4),
  [{ type: 'session.closing', data: { then: 'close' } }],
  [...(replacementLog[5] ?? []).filter((draft) => draft.task === 'T1'), { type: 'session.closed', data: {} }],
]

describePlanted('rarer rules', {
  'INV-02': [
    ['a fact that names no task', readdressed(queueLog, ['task.started'], { task: null }), ['task.started']],
    [
      'a group created twice',
      after(cascadeLog, ['group.created'], { type: 'group.created', data: { group: 'G1' } }),
      ['group.created', 1],
    ],
    [
      'a group cancelled that is not there',
      [...turnOnly, [{ type: 'group.cancelled', data: { group: 'G9' } }]],
      ['group.cancelled'],
    ],
    ['a result of a task that lives', altered(cascadeLog, ['result.offered'], { from: 'T2' }), ['result.offered']],
    [
      'a replacement that nobody created',
      altered(supersedeTrace, ['task.superseded'], { replacement: 'T9' }),
      ['task.superseded'],
    ],
    ['a paused turn that completes', [...waitsForApproval, [ended('task.completed', 'T1')]], ['task.completed']],
    [
      'closing twice',
      [...turnOnly, [...finishAndClose()], [{ type: 'session.closing', data: { then: 'close' } }]],
      ['session.closing', 1],
    ],
    ['restored after a task', [...queueLog, [restored()]], ['session.restored']],
  ],
  'INV-04': [
    [
      'an acknowledged abort of a call not in flight',
      [...waitsForApproval, [callCancelled('T1', 'C1', 'acknowledged')]],
      ['call.cancelled'],
    ],
    ['an unknown outcome of a call that never ran', [...waitsForApproval, [callUnknown('T1', 'C1')]], ['call.unknown']],
    ['a read that is verified', after(supersedeTrace, ['call.started', 1], verifying('C2')), ['call.verifying']],
    [
      'verified twice',
      after(supersedeTrace, ['call.started', 2], verifying('C3'), verified('C3'), verified('C3')),
      ['call.verified', 1],
    ],
    [
      'a terminal while the task awaits',
      [...turnOnly, [answered('T1'), awaiting, ended('task.failed', 'T1')]],
      ['task.failed'],
    ],
    [
      'a held call that outlives the gate',
      [...waitsForApproval, [cancelling('T1'), quiescing('T1')]],
      ['task.cancelling'],
    ],
    [
      'an await that outlives the gate',
      [...turnOnly, [answered('T1'), awaiting], [cancelling('T1'), quiescing('T1')]],
      ['task.cancelling'],
    ],
    [
      'a task that starts before the replacement',
      [...reopened, [{ type: 'session.reopened', data: {} }, created('T9'), ...begin('T9', 10)]],
      ['task.started', 1],
    ],
    [
      'an abort that no cancel asked for',
      after(replacementLog, ['call.started'], {
        type: 'call.aborting',
        task: 'T1',
        call: 'C1',
        data: { reason: 'cancel', graceUntil: later },
      }),
      ['call.aborting'],
    ],
  ],
  'INV-05': [
    [
      'a read held for quarantine',
      before(supersedeTrace, ['call.started', 1], callHeld('T2', 'C2', 'quarantine')),
      ['call.held'],
    ],
    [
      'a started call held for quarantine',
      after(supersedeTrace, ['call.started', 1], callHeld('T2', 'C2', 'quarantine')),
      ['call.held'],
    ],
  ],
  'INV-06': [
    ['queued twice', after(steeringLog, ['steering.queued', 1], steered('T1', 'M1')), ['steering.queued', 2]],
    [
      'expired and never queued',
      after(queueLog, ['task.started'], {
        type: 'steering.expired',
        task: 'T1',
        data: { messages: ['M9'], reason: 'x' },
      }),
      ['steering.expired'],
    ],
  ],
  'INV-11': [
    [
      'a call requested twice',
      after(interruptTrace, ['call.requested'], callRequested('T1', 'C1', 'look', 'read')),
      ['call.requested', 1],
    ],
    [
      'an await that outlives an interrupt',
      [...turnOnly, [answered('T1'), awaiting], [steered('T1', 'M1', 'interrupt')]],
      ['steering.queued'],
    ],
    [
      'an attempt that is interrupted and never ran',
      altered(crashTrace, ['call.interrupted'], { attempt: 2 }),
      ['call.interrupted'],
    ],
  ],
  'INV-13': [
    [
      'an answer over calls without results',
      [...waitsForApproval, [assistantSaid('T1', [['C1', 'pay']])]],
      ['message.added', 2],
    ],
    ['a tool message for no call', after(queueLog, ['message.added'], said('T1', 'tool')), ['message.added', 1]],
  ],
  'INV-15': [
    [
      'a compaction that drops and keeps as many messages',
      altered(requestsLog, ['context.compacted'], { messagesAfter: 4 }),
      ['context.compacted'],
    ],
    [
      'a terminal with less usage than was charged',
      altered(queueLog, ['task.completed'], { usage: { input: 1, output: 1, total: 2 } }),
      ['task.completed'],
    ],
  ],
  'INV-20': [
    ['a token that is open', [...waitsForApproval, [pauseRequested('T1', 'P1', 'operator')]], ['pause.requested', 1]],
    [
      'a pause of a pending task',
      [...queueLog.slice(0, 2), [pauseRequested('T2', 'P1', 'operator')]],
      ['pause.requested'],
    ],
  ],
  'INV-23': [
    ['too large a message', altered(queueLog, ['message.added'], { bytes: 16 * 1024 * 1024 + 1 }), ['message.added']],
    ['1,025 steers pending', [[opened, ...turn('T1')], ...manySteers], ['steering.queued', 1024]],
  ],
})

function finishAndClose(): TestDraft[] {
  return [...finish('T1'), { type: 'session.closing', data: { then: 'close' } }]
}

function restored(): TestDraft {
  const usage = { input: 0, output: 0, total: 0 }
  const from = 'hmac-sha256:00'
  return { type: 'session.restored', data: { from, turns: 1, revision: 1, usage, quarantined: [] } }
}
