import {
  accounted,
  answered,
  assistantSaid,
  cancelling,
  digest,
  opened,
  pauseRequested,
  pauseSettled,
  quiescing,
  requested,
  turn,
} from './drafts.ts'
import { after, altered, before, describePlanted, readdressed, without } from './plant.ts'
import { askLog, capabilityLog, checkpoint, contextLog, ref, setbackLog, warned } from './record-logs.ts'
import { approvalLog, ownPauseLog, queueLog, requestsLog } from './valid-logs.ts'
import { crashTrace, supersedeTrace } from './worked-traces.ts'

const newOwner = { id: 'instance-2', epoch: 2 }

describePlanted('capabilities', {
  'INV-11': [
    [
      'a reference of another generation',
      altered(capabilityLog, ['call.requested'], { ref: ref('tool:pay', { generation: 2 }) }),
      ['call.started'],
    ],
    [
      'a reference that the snapshot has not',
      altered(capabilityLog, ['call.requested'], { ref: ref('tool:new') }),
      ['call.started'],
    ],
    [
      'a load that the contract forbids',
      altered(capabilityLog, ['capability.loaded'], { ref: ref('tool:more', { contract: 'sha256:11' }) }),
      ['capability.loaded'],
    ],
    [
      'a load below its level',
      altered(capabilityLog, ['task.started'], { grants: { 'tool:more': { level: 'inspect', confirm: 'none' } } }),
      ['capability.loaded'],
    ],
    [
      'an activation below its level',
      altered(capabilityLog, ['task.started'], { grants: { 'skill:plan': { level: 'inspect', confirm: 'none' } } }),
      ['capability.activated'],
    ],
    [
      'a skill that is loaded',
      altered(capabilityLog, ['capability.loaded'], { ref: ref('skill:plan') }),
      ['capability.loaded'],
    ],
    ['a skill that stays for a second step', without(capabilityLog, ['capability.released']), ['model.requested', 2]],
    ['a release of what is not active', without(capabilityLog, ['capability.activated']), ['capability.released']],
    [
      'a first use that nobody confirmed',
      altered(capabilityLog, ['pause.settled'], { decision: 'withdrawn' }),
      ['call.started'],
    ],
    [
      'an unknown name that is held',
      altered(supersedeTrace, ['call.requested', 2], { effect: undefined }),
      ['call.held'],
    ],
  ],
})

describePlanted('pauses', {
  'INV-20': [
    [
      'a question that the planner did not ask',
      altered(askLog, ['model.completed'], { calls: [{ call: 'A1', name: 'task_spawn', arguments: digest }] }),
      ['pause.requested'],
    ],
    [
      'an approval without a call',
      [...queueLog.slice(0, 1), [pauseRequested('T1', 'P1', 'approval')]],
      ['pause.requested'],
    ],
    [
      "the operator's pause of a call",
      altered(approvalLog, ['pause.requested'], { reason: 'operator' }),
      ['pause.requested'],
    ],
    [
      'a second own pause',
      after(ownPauseLog, ['pause.requested'], pauseRequested('T1', 'P2', 'operator')),
      ['pause.requested', 1],
    ],
    [
      'a second pause of a call',
      after(approvalLog, ['call.held'], pauseRequested('T1', 'P9', 'external', 'C1')),
      ['pause.requested', 1],
    ],
    ['a pause of no call', readdressed(approvalLog, ['pause.requested'], { call: 'C9' }), ['pause.requested']],
    ['a question that outlives an interrupt', without(askLog, ['pause.settled', 1]), ['steering.queued']],
    [
      "the operator's pause, withdrawn by nobody",
      [...ownPauseLog.slice(0, 3), [pauseSettled('T1', 'P1', 'withdrawn')]],
      ['pause.settled'],
    ],
    ['a pause that holds nothing', without(approvalLog, ['call.held']), ['model.completed']],
    ['a task that is not paused', without(askLog, ['task.paused']), ['model.completed']],
    [
      'a task that stays paused',
      [...approvalLog.slice(0, 2), [pauseSettled('T1', 'P1', 'approve', 'C1')]],
      ['pause.settled'],
    ],
    [
      'a call that is held by nothing',
      without(without(approvalLog, ['call.started']), ['call.held', 1]),
      ['pause.settled'],
    ],
    ['other reasons', altered(askLog, ['task.paused'], { reasons: ['operator'] }), ['task.paused']],
    [
      'a refusal that nobody decided',
      [
        ...approvalLog.slice(0, 2),
        [{ type: 'call.refused', task: 'T1', call: 'C1', data: { code: 'PAUSE_REJECTED' } }],
      ],
      ['call.refused'],
    ],
  ],
  'INV-04': [
    ['a barrier that rests', [...queueLog.slice(0, 1), [cancelling('T1'), quiescing('T1')]], ['task.cancelling']],
  ],
  'INV-17': [
    ['a run that a new owner does not resume', without(crashTrace, ['run.resumed']), ['call.started', 3]],
    [
      'a new owner that does not say so',
      without(crashTrace, ['session.owned']).map((step, at) =>
        at < 2 ? step : step.map((draft) => ({ ...draft, owner: newOwner })),
      ),
      ['run.resumed'],
    ],
  ],
})

describePlanted('context and repetition', {
  'INV-13': [
    [
      'a compaction with a request in flight',
      after(requestsLog, ['model.requested', 2], checkpoint(1)),
      ['context.checkpoint'],
    ],
    [
      'a compaction between a call and its result',
      after(requestsLog, ['call.finished'], checkpoint(1)),
      ['context.checkpoint'],
    ],
    ['two episodes at once', without(contextLog, ['episode.ended']), ['episode.started', 1]],
    [
      'an action that rests on nothing',
      altered(contextLog, ['episode.started', 1], { basedOn: [] }),
      ['episode.started', 1],
    ],
    [
      'an action that rests on what is not completed',
      altered(contextLog, ['episode.started', 1], { basedOn: ['E9'] }),
      ['episode.started', 1],
    ],
    [
      'an exploration without a conclusion',
      altered(contextLog, ['episode.ended'], { conclusion: undefined }),
      ['episode.ended'],
    ],
    ['another episode that ends', altered(contextLog, ['episode.ended'], { episode: 'E9' }), ['episode.ended']],
  ],
  'INV-15': [
    [
      'a summary that goes back',
      altered(contextLog, ['context.checkpoint', 1], { version: 1 }),
      ['context.checkpoint', 1],
    ],
    ['a summary without a view', without(contextLog, ['context.compacted']), ['context.checkpoint']],
    [
      'a view that begins elsewhere',
      altered(contextLog, ['context.compacted'], { tailStart: 3 }),
      ['context.compacted'],
    ],
    [
      'a compaction that changes nothing',
      altered(contextLog, ['context.compacted'], { dropped: 0 }),
      ['context.compacted'],
    ],
    ['a warning at another share', altered(contextLog, ['budget.warning'], { percent: 60 }), ['budget.warning']],
    ['a warning before its time', altered(contextLog, ['budget.warning'], { used: 499 }), ['budget.warning']],
    ['a warning twice', after(contextLog, ['budget.warning'], warned(50, 700)), ['budget.warning', 1]],
    [
      'a task that goes on after it was told no',
      [
        [opened, ...turn('T1')],
        [answered('T1'), assistantSaid('T1'), accounted('T1', { used: 10, admitted: false })],
      ],
      ['context.accounted', 1],
    ],
    [
      'a request for more than the reserve',
      altered(queueLog, ['model.requested'], { maxOutput: 51, reserved: 76 }),
      ['model.requested'],
    ],
  ],
  'INV-23': [
    [
      'a second summary in one round',
      before(
        contextLog,
        ['context.accounted', 2],
        accounted('T1', { purpose: 'summary', used: 20 }),
        requested('T1', 1, { purpose: 'summary' }),
      ),
      ['model.requested', 2],
    ],
    [
      'a turn that goes on after three identical failures',
      altered(setbackLog, ['call.finished', 2], { code: 'GONE' }),
      ['model.requested', 3],
    ],
  ],
})
