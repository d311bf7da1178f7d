import { describe, it } from 'vitest'
import {
  accounted,
  answered,
  assistantSaid,
  callFinished,
  callRequested,
  callStarted,
  child,
  followUp,
  opened,
  paused,
  pauseRequested,
  pauseSettled,
  resumed,
  started,
  toolSaid,
  turn,
} from './drafts.ts'
import type { Steps } from './log-builder.ts'
import { after, altered, before, describePlanted, expectPlanted, without } from './plant.ts'
import {
  approvalLog,
  cascadeLog,
  ownPauseLog,
  queueLog,
  replacementLog,
  requestsLog,
  steeringLog,
} from './valid-logs.ts'
import { interruptTrace, supersedeTrace } from './worked-traces.ts'

const many = Array.from({ length: 130 }, (_, index) => [`C${index}`, 'look'] as const)
const busy: Steps = [
  [opened, ...turn('T1')],
  [
    answered('T1', many),
    assistantSaid('T1', many),
    ...many.map(([call, name]) => callRequested('T1', call, name, 'read')),
    ...many.slice(0, 17).map(([call]) => callStarted('T1', call)),
  ],
]
const children = Array.from({ length: 65 }, (_, index) => [child(`B${index}`), started(`B${index}`)])
const deep = Array.from({ length: 9 }, (_, index) => [
  child(`B${index}`, index === 0 ? {} : { parent: `B${index - 1}` }),
  started(`B${index}`),
])
const queue = Array.from({ length: 257 }, (_, index) => [followUp(`T${index + 2}`, `T${index + 1}`)])
const pauses = Array.from({ length: 65 }, (_, index) => [pauseRequested('T1', `P${index}`, 'operator')])

const longStep: Steps = [
  [opened, ...turn('T1'), answered('T1'), ...Array.from({ length: 1020 }, () => accounted('T1', { used: 10 }))],
]

describePlanted('conversation, requests, pauses and bounds', {
  'INV-13': [
    ['a call without a result', without(supersedeTrace, ['message.added', 7]), ['model.requested', 2]],
    ['a result twice', after(supersedeTrace, ['message.added', 6], toolSaid('T2', 'C2')), ['message.added', 7]],
    [
      'results out of call order',
      before(supersedeTrace, ['message.added', 6], toolSaid('T2', 'C3')),
      ['message.added', 6],
    ],
    [
      'a result before the outcome',
      before(supersedeTrace, ['call.finished', 1], toolSaid('T2', 'C2'), toolSaid('T2', 'C3')),
      ['message.added', 7],
    ],
    ['a terminal without the results', without(ownPauseLog, ['message.added', 2]), ['task.failed']],
    [
      'calls that the answer did not have',
      altered(supersedeTrace, ['message.added', 1], { toolCalls: [{ call: 'C8', name: 'pay' }] }),
      ['message.added', 1],
    ],
  ],
  'INV-15': [
    ['a request without its account', without(queueLog, ['context.accounted', 1]), ['model.requested', 1]],
    [
      'a request with the account of a summary',
      altered(queueLog, ['context.accounted'], { purpose: 'summary' }),
      ['model.requested'],
    ],
    [
      'a request that was not admitted',
      altered(queueLog, ['context.accounted'], { admitted: false }),
      ['model.requested'],
    ],
    ['more than the window', altered(queueLog, ['context.accounted'], { occupancy: 960 }), ['context.accounted']],
    ['at the budget', altered(queueLog, ['context.accounted', 1], { limit: 10 }), ['context.accounted', 1]],
    ['reserved over the budget', altered(queueLog, ['context.accounted', 1], { limit: 80 }), ['model.requested', 1]],
    ['usage that shrinks', altered(queueLog, ['context.accounted', 2], { used: 10 }), ['context.accounted', 2]],
    [
      'reservations that are forgotten',
      altered(cascadeLog, ['context.accounted', 1], { reserved: 0 }),
      ['context.accounted', 1],
    ],
    [
      'negative usage',
      altered(queueLog, ['model.completed'], { usage: { input: -1, output: 0, total: -1 } }),
      ['model.completed'],
    ],
    ['an answer to no request', after(queueLog, ['model.completed'], answered('T1')), ['model.completed', 1]],
    ['a request that is never charged', without(steeringLog, ['model.abandoned']), ['task.cancelled']],
    [
      'a compaction that does not help',
      altered(requestsLog, ['context.compacted'], { bytesAfter: 900 }),
      ['context.compacted'],
    ],
  ],
  'INV-20': [
    [
      'settled twice',
      after(interruptTrace, ['pause.settled'], pauseSettled('T1', 'P1', 'approve', 'C2')),
      ['pause.settled', 1],
    ],
    [
      'settled and never requested',
      after(queueLog, ['task.started'], pauseSettled('T1', 'P9', 'approve')),
      ['pause.settled'],
    ],
    [
      'settled for another task',
      [...ownPauseLog.slice(0, 3), [child('B1'), started('B1')], [pauseSettled('B1', 'P1', 'resume')]],
      ['pause.settled'],
    ],
    ['a call that starts in a paused task', without(approvalLog, ['task.resumed']), ['call.started']],
    [
      'a request while the task is to pause',
      after(requestsLog, ['task.started'], pauseRequested('T1', 'P1', 'operator')),
      ['model.requested'],
    ],
    [
      'paused with a call in flight',
      after(replacementLog, ['call.started'], pauseRequested('T1', 'P1', 'operator'), paused('T1', 'operator')),
      ['task.paused'],
    ],
    ['paused for nothing', [...queueLog.slice(0, 1), [answered('T1'), paused('T1', 'operator')]], ['task.paused']],
    ['resumed while the pause is open', [...ownPauseLog.slice(0, 3), [resumed('T1')]], ['task.resumed']],
    ['a terminal with an open pause', without(ownPauseLog, ['pause.settled']), ['task.failed']],
    [
      'a call that outlives its rejected pause',
      [...approvalLog.slice(0, 2), [pauseSettled('T1', 'P1', 'reject', 'C1')]],
      ['pause.settled'],
    ],
    ['held without an open pause', without(approvalLog, ['pause.requested']), ['call.held']],
  ],
  'INV-23': [
    ['a step too far', altered(queueLog, ['model.requested'], { step: 1 }), ['model.requested']],
    [
      'a retry that is not counted',
      altered(requestsLog, ['model.requested', 1], { attempt: 1 }),
      ['model.requested', 1],
    ],
    ['17 calls in flight', busy, ['call.started', 16]],
    // What is asked for beyond the bound may be recorded; that any of it starts may not.
    ['a start among 129 calls in a turn', busy, ['call.started', 0]],
    ['65 living children', [[opened], ...children], ['task.created', 64]],
    ['children nine deep', [[opened], ...deep], ['task.created', 8]],
    ['257 queued', [[opened, ...turn('T1')], ...queue], ['task.created', 257]],
    ['65 open pauses', [[opened, ...turn('T1')], ...pauses], ['pause.requested', 64]],
    ['too large a steer', altered(steeringLog, ['steering.queued'], { bytes: 262_145 }), ['steering.queued']],
  ],
})

describe('more planted violations', () => {
  it('INV-23: more facts in a step than 1,024', () => {
    expectPlanted(longStep, 'INV-23', ['context.accounted', 1018])
  })

  it('INV-11: an outcome of a call that nobody requested', () => {
    expectPlanted([[opened, ...turn('T1')], [callFinished('T1', 'C9')]], 'INV-11', ['call.finished'])
  })
})
