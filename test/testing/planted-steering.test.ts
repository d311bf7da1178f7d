import { created, expired, inherited, opened, steered } from './drafts.ts'
import { after, altered, describePlanted, without } from './plant.ts'
import { blockedLog, finish, queueLog, replacedLog, replacementLog, steeringLog } from './valid-logs.ts'
import { supersedeTrace } from './worked-traces.ts'

describePlanted('steering and dependency', {
  'INV-06': [
    [
      'applied out of order',
      altered(steeringLog, ['steering.applied'], { messages: ['M2', 'M1'] }),
      ['steering.applied'],
    ],
    ['applied in part', altered(steeringLog, ['steering.applied'], { messages: ['M1'] }), ['steering.applied']],
    [
      'applied twice',
      after(steeringLog, ['steering.inherited'], {
        type: 'steering.applied',
        task: 'T2',
        data: { messages: ['M1'], step: 0 },
      }),
      ['steering.applied', 1],
    ],
    [
      'applied without its request',
      without(without(steeringLog, ['context.accounted', 1]), ['model.requested', 1]),
      ['steering.applied'],
    ],
    ['a request that leaves steering behind', without(steeringLog, ['steering.applied']), ['model.requested', 1]],
    ['steering not said', without(steeringLog, ['message.added', 2]), ['steering.applied']],
    [
      'a steer after the gate is shut',
      after(supersedeTrace, ['task.quiescing'], steered('T1', 'M9')),
      ['steering.queued'],
    ],
    [
      'completed with steering pending',
      [...queueLog.slice(0, 1), [steered('T1', 'M1')], finish('T1')],
      ['task.completed'],
    ],
    [
      'a terminal that hides what was pending',
      altered(steeringLog, ['task.cancelled'], { pendingSteering: [] }),
      ['task.cancelled'],
    ],
    ['not inherited', without(steeringLog, ['steering.inherited']), ['steering.applied', 1]],
    ['inherited from another', altered(steeringLog, ['steering.inherited'], { from: 'T7' }), ['steering.inherited']],
    [
      'inherited after it was applied',
      after(steeringLog, ['steering.applied', 1], inherited('T2', 'T1', 'M3')),
      ['steering.inherited', 1],
    ],
    ['not expired with a replacement', without(replacementLog, ['steering.expired']), ['task.superseded', 1]],
    [
      'expired although it has an heir',
      after(steeringLog, ['task.cancelled'], expired('T1', 'M3')),
      ['steering.expired'],
    ],
    ['expired twice', after(replacementLog, ['steering.expired'], expired('T1', 'M1')), ['steering.expired', 1]],
    [
      'left behind by closing',
      [...steeringLog.slice(0, 6), [{ type: 'session.closing', data: { then: 'close' } }]],
      ['session.closing'],
    ],
  ],
  'INV-18': [
    ['a blocked task that starts', without(blockedLog, ['task.unblocked']), ['task.started', 2]],
    [
      'a task that ought to be blocked',
      [...blockedLog.slice(0, 3), blockedLog[3]?.filter((each) => each.type !== 'task.blocked') ?? []],
      ['task.cancelling'],
    ],
    ['blocked for another status', altered(blockedLog, ['task.blocked'], { status: 'failed' }), ['task.blocked']],
    [
      'blocked for no reason',
      after(queueLog, ['task.created', 1], {
        type: 'task.blocked',
        task: 'T2',
        data: { predecessor: 'T1', status: 'failed' },
      }),
      ['task.blocked'],
    ],
    [
      'another predecessor than the one ahead',
      altered(queueLog, ['task.created', 2], { predecessor: 'T1' }),
      ['task.created', 2],
    ],
    [
      'no predecessor',
      [...queueLog.slice(0, 1), [created('T2', { origin: 'follow_up', requires: 'success' })]],
      ['task.created', 1],
    ],
    [
      'a replaced task that stays blocked',
      [...replacedLog.slice(0, 3), [replacedLog[3]?.[0] ?? opened]],
      ['task.input_replaced'],
    ],
  ],
})
