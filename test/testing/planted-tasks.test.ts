import { describe, expect, it } from 'vitest'
import {
  answered,
  asks,
  assistantSaid,
  cancelling,
  child,
  created,
  ended,
  followUp,
  noCalls,
  opened,
  quiescing,
  started,
  turn,
} from './drafts.ts'
import { buildLog } from './log-builder.ts'
import { after, altered, before, describePlanted, findings, readdressed, without } from './plant.ts'
import { blockedLog, cascadeLog, closeLog, finish, ownPauseLog, queueLog, replacementLog } from './valid-logs.ts'
import { interruptTrace, supersedeTrace } from './worked-traces.ts'

describePlanted('tasks and sessions', {
  'INV-01': [
    ['a start while a turn is active', [...queueLog.slice(0, 1), turn('T9')], ['task.created', 1]],
    ['a second foreground task starts', [...queueLog.slice(0, 2), [started('T2')]], ['task.started', 1]],
    ['two replacements in one slot', without(replacementLog, ['task.superseded', 0]), ['task.created', 2]],
  ],
  'INV-02': [
    ['a second terminal', after(queueLog, ['task.completed', 2], ended('task.failed', 'T3')), ['task.failed']],
    ['a message after the terminal', after(queueLog, ['task.completed', 2], assistantSaid('T3')), ['message.added', 6]],
    ['a task created twice', after(queueLog, ['task.completed', 2], created('T1')), ['task.created', 3]],
    ['a fact of a task nobody created', after(queueLog, ['session.opened'], started('T9')), ['task.started']],
    [
      'resumed while running',
      [...queueLog.slice(0, 1), [{ type: 'task.resumed', task: 'T1', data: {} }]],
      ['task.resumed'],
    ],
    ['a pending task that fails', [...queueLog.slice(0, 2), [ended('task.failed', 'T2')]], ['task.failed']],
    [
      'another status than the barrier has',
      altered(supersedeTrace, ['task.cancelling'], { status: 'cancelled' }),
      ['task.superseded'],
    ],
    [
      'a blocked follow-up that ends superseded',
      [...blockedLog.slice(0, 4), [ended('task.superseded', 'T2')]],
      ['task.superseded'],
    ],
    [
      'completed without a final answer',
      [...queueLog.slice(0, 1), [ended('task.completed', 'T1')]],
      ['task.completed'],
    ],
    [
      'calls that do not count up',
      altered(supersedeTrace, ['task.completed'], { calls: { ...noCalls, total: 3, succeededMutating: 1 } }),
      ['task.completed'],
    ],
    [
      'unknown calls that do not count up',
      altered(supersedeTrace, ['task.superseded'], { calls: { ...noCalls, total: 1 } }),
      ['task.superseded'],
    ],
    ['steps that do not count up', altered(queueLog, ['task.completed'], { steps: 2 }), ['task.completed']],
    ['a fact after the erase', [...closeLog, [created('T9')]], ['task.created', 3]],
    [
      'a closed session that is not closing',
      [...queueLog.slice(0, 1), [{ type: 'session.closed', data: {} }]],
      ['session.closed'],
    ],
    ['an erase with a living task', without(closeLog, ['task.cancelled', 1]), ['session.erased']],
    [
      'reopened while open',
      after(queueLog, ['session.opened'], { type: 'session.reopened', data: {} }),
      ['session.reopened'],
    ],
    [
      'a group that resolves while a member lives',
      after(cascadeLog, ['group.sealed'], { type: 'group.resolved', data: { group: 'G1' } }),
      ['group.resolved'],
    ],
    [
      'a sealed group that takes a member',
      after(cascadeLog, ['group.sealed'], child('B9', { group: 'G1' })),
      ['task.created', 4],
    ],
    [
      'a group that fires twice',
      after(cascadeLog, ['group.resolved'], { type: 'group.resolved', data: { group: 'G1' } }),
      ['group.resolved', 1],
    ],
    [
      'a result offered twice',
      after(cascadeLog, ['result.offered'], {
        type: 'result.offered',
        task: 'T2',
        data: { from: 'B3', message: 'R2' },
      }),
      ['result.offered', 1],
    ],
    ['two runs of one task', readdressed(queueLog, ['message.added'], { run: 'other' }), ['message.added']],
  ],
  'INV-03': [
    [
      'a request after the gate is shut',
      after(supersedeTrace, ['task.quiescing'], ...asks('T1', 1, 10)),
      ['model.requested', 1],
    ],
    [
      'a load after the gate is shut',
      after(supersedeTrace, ['task.cancelling'], {
        type: 'capability.loaded',
        task: 'T1',
        data: {
          ref: { id: 'tool:x', generation: 1, contract: 'sha256:00', provider: 'host', binding: 1 },
          scope: 'task',
          bytes: 1,
          content: 'hmac-sha256:00',
        },
      }),
      ['capability.loaded'],
    ],
    ['a start after closing', after(closeLog, ['session.closed'], ...turn('T9', 5)), ['task.started', 1]],
    [
      'a task that runs on in a closing session',
      [...queueLog.slice(0, 1), [{ type: 'session.closing', data: { then: 'close' } }]],
      ['session.closing'],
    ],
  ],
  'INV-04': [
    ['a terminal before the outcome', without(supersedeTrace, ['call.unknown']), ['task.superseded']],
    ['a barrier that is skipped', [...queueLog.slice(0, 1), [ended('task.cancelled', 'T1')]], ['task.cancelled']],
    ['quiescing that lists too little', altered(supersedeTrace, ['task.quiescing'], { calls: [] }), ['task.quiescing']],
    ['quiescing that does not follow', without(supersedeTrace, ['task.quiescing']), ['task.cancelling']],
    [
      'a replacement that starts before the terminal',
      before(supersedeTrace, ['call.unknown'], started('T2')),
      ['task.started', 1],
    ],
    [
      'a replacement that does not start',
      supersedeTrace
        .slice(0, 4)
        .map((step) => step.filter((each) => each.task !== 'T2' || each.type === 'task.created')),
      ['call.unknown'],
    ],
    ['a follow-up out of turn', [...queueLog.slice(0, 3), [...finish('T1'), started('T3')]], ['task.started', 1]],
    ['an unstarted call at the terminal', without(ownPauseLog, ['call.cancelled']), ['task.failed']],
  ],
  'INV-16': [
    [
      'a key used twice',
      after(cascadeLog, ['task.started', 3], child('B8', { idempotencyKey: 'k1' })),
      ['task.created', 4],
    ],
    [
      'a key used twice, long after',
      [...cascadeLog, [child('B9', { idempotencyKey: 'k1' }), started('B9')]],
      ['task.created', 5],
    ],
  ],
  'INV-19': [
    [
      'a descendant the walk forgets',
      [
        ...cascadeLog.slice(0, 6),
        [cancelling('T1'), quiescing('T1'), cancelling('B1', { cascadedFrom: 'T1' }), quiescing('B1')],
      ],
      ['task.cancelling'],
    ],
    [
      'an isolated child that is touched',
      [...cascadeLog.slice(0, 6), [cancelling('B3', { cascadedFrom: 'T1' }), quiescing('B3')]],
      ['task.cancelling'],
    ],
    ['a terminal before the children', [...cascadeLog.slice(0, 6), [ended('task.failed', 'T1')]], ['task.failed']],
  ],
})

describe('a fault that breaks one rule', () => {
  it('tells nothing else of a fault that breaks one rule', () => {
    expect(findings(buildLog(altered(queueLog, ['task.completed'], { steps: 2 })))).toHaveLength(1)
    expect(findings(buildLog(altered(interruptTrace, ['steering.applied'], { step: 0 })))).toHaveLength(1)
    expect(
      findings(
        buildLog([
          [opened, ...turn('T1')],
          [followUp('T2', 'T1')],
          [answered('T1'), ended('task.completed', 'T1', { steps: 1 })],
        ]),
      ),
    ).toEqual(['INV-04@8'])
  })
})
