import { awaiting, awaitSettled, told } from './background-drafts.ts'
import { awaitLog, groupLog, slowChildLog } from './background-logs.ts'
import { answered, asks, callRequested, callStarted, ended, pauseRequested } from './drafts.ts'
import { after, altered, before, describePlanted, without } from './plant.ts'

describePlanted('awaits', {
  'INV-02': [
    ['an await of nothing', altered(awaitLog, ['task.awaiting'], { tasks: [] }), ['task.awaiting']],
    ['an await of itself', altered(awaitLog, ['task.awaiting'], { tasks: ['T1'] }), ['task.awaiting']],
    ['an await of no descendant', altered(awaitLog, ['task.created', 1], { parent: undefined }), ['task.awaiting']],
    ['an await of a group nobody made', altered(groupLog, ['task.awaiting'], { group: 'G9' }), ['task.awaiting']],
    [
      'an await of its own group',
      after(groupLog, ['message.added', 6], answered('B1'), awaiting('B1', { group: 'G1' })),
      ['task.awaiting'],
    ],
    [
      'a second await beside the first',
      after(awaitLog, ['task.awaiting'], awaiting('T1', { tasks: ['B1'] })),
      ['task.awaiting', 1],
    ],
    ['an await for another call', altered(awaitLog, ['task.awaiting'], { forCall: 'W9' }), ['task.awaiting']],
    ['settled and never begun', without(awaitLog, ['task.awaiting']), ['task.await_settled']],
    ['settled twice', after(awaitLog, ['task.await_settled'], awaitSettled('T1', 'done')), ['task.await_settled', 1]],
    ['done while a task lives', altered(awaitLog, ['task.await_settled'], { how: 'done' }), ['task.await_settled']],
    ['done while a member lives', [...groupLog.slice(0, 5), [awaitSettled('T1', 'done')]], ['task.await_settled']],
    [
      'by a deadline that there is not',
      altered(awaitLog, ['task.await_settled', 1], { how: 'deadline' }),
      ['task.await_settled', 1],
    ],
    [
      'before the deadline',
      altered(awaitLog, ['task.awaiting'], { deadline: '2026-01-01T00:00:00.001Z' }),
      ['task.await_settled'],
    ],
    ['interrupted by nothing', altered(awaitLog, ['steering.queued'], { mode: 'boundary' }), ['task.await_settled', 1]],
    [
      'cancelled, and the task goes on',
      altered(awaitLog, ['task.await_settled'], { how: 'cancelled' }),
      ['task.await_settled'],
    ],
    [
      'a status that is not so',
      altered(awaitLog, ['task.await_settled'], { results: told(['B1', 'completed']) }),
      ['task.await_settled'],
    ],
    [
      'a result of a task that was not awaited',
      altered(awaitLog, ['task.await_settled'], { results: told(['T1', null]) }),
      ['task.await_settled'],
    ],
    [
      'a result of no task',
      altered(awaitLog, ['task.await_settled'], { results: told(['B9', null]) }),
      ['task.await_settled'],
    ],
    [
      'done without a result',
      [
        ...awaitLog.slice(0, 3),
        [answered('B1'), ended('task.completed', 'B1', { steps: 1 }), awaitSettled('T1', 'done')],
      ],
      ['task.await_settled'],
    ],
    [
      'an await that outlives what it waits for',
      [...awaitLog.slice(0, 3), [answered('B1'), ended('task.completed', 'B1', { steps: 1 })]],
      ['model.completed', 1],
    ],
  ],
  'INV-03': [
    [
      'an await after the gate is shut',
      after(slowChildLog, ['task.quiescing'], awaiting('T1', { tasks: ['B1'] })),
      ['task.awaiting'],
    ],
  ],
  'INV-11': [
    [
      'an await beside a call of its batch',
      before(awaitLog, ['task.awaiting'], callRequested('T1', 'C1', 'look', 'read'), callStarted('T1', 'C1')),
      ['task.awaiting'],
    ],
    [
      'a request while the task awaits',
      after(awaitLog, ['task.awaiting'], ...asks('T1', 1, 10, 75)),
      ['model.requested', 2],
    ],
  ],
  'INV-20': [
    [
      'an await under the pause of the task',
      before(awaitLog, ['task.awaiting'], pauseRequested('T1', 'P1', 'operator')),
      ['task.awaiting'],
    ],
  ],
  'INV-04': [
    ['an await that its task does not outlive', without(awaitLog, ['task.await_settled', 2]), ['task.cancelled', 1]],
  ],
})
