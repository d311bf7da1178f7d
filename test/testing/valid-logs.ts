import {
  aborting,
  accounted,
  answered,
  applied,
  asks,
  assistantSaid,
  callCancelled,
  callFinished,
  callHeld,
  callRequested,
  callStarted,
  cancelling,
  child,
  created,
  digest,
  ended,
  expired,
  followUp,
  inherited,
  later,
  noCalls,
  opened,
  paused,
  pauseRequested,
  pauseSettled,
  quiescing,
  requested,
  resumed,
  said,
  started,
  steered,
  toolSaid,
  turn,
} from './drafts.ts'
import type { Steps, TestDraft } from './log-builder.ts'

/** Logs of ordinary work, each with one thing that the worked traces do not show. None of them breaks a rule. */

/** The facts that begin the next turn, when it was created before. */
export function begin(task: string, used: number): TestDraft[] {
  return [started(task), said(task, 'user'), ...asks(task, 0, used)]
}

export function finish(task: string, steps = 1): TestDraft[] {
  return [answered(task), assistantSaid(task), ended('task.completed', task, { steps })]
}

export function cancelled(task: string, pendingSteering: string[] = []): TestDraft[] {
  const charged = { input: 3, output: 2, total: 5, estimated: true } as const
  return [
    cancelling(task),
    quiescing(task),
    { type: 'model.abandoned', task, data: { reason: 'cancelled', charged } },
    ended('task.cancelled', task, { steps: 0, pendingSteering }),
  ]
}

/** Two follow-ups wait their turn. */
export const queueLog: Steps = [
  [opened, ...turn('T1')],
  [followUp('T2', 'T1', 'success')],
  [followUp('T3', 'T2')],
  [...finish('T1'), ...begin('T2', 10)],
  [...finish('T2'), ...begin('T3', 20)],
  finish('T3'),
]

/** The predecessor is cancelled; the head is blocked and holds back T3, a start goes past them, then it is unblocked. */
export const blockedLog: Steps = [
  [opened, ...turn('T1')],
  [followUp('T2', 'T1', 'success')],
  [followUp('T3', 'T2')],
  [...cancelled('T1'), { type: 'task.blocked', task: 'T2', data: { predecessor: 'T1', status: 'cancelled' } }],
  [created('T4'), ...begin('T4', 5)],
  finish('T4'),
  [{ type: 'task.unblocked', task: 'T2', data: {} }, ...begin('T2', 15)],
  [...finish('T2'), ...begin('T3', 25)],
  finish('T3'),
]

/** A blocked task is given other input, which frees it. */
export const replacedLog: Steps = [
  [opened, ...turn('T1')],
  [followUp('T2', 'T1', 'success')],
  [...cancelled('T1'), { type: 'task.blocked', task: 'T2', data: { predecessor: 'T1', status: 'cancelled' } }],
  [
    { type: 'task.input_replaced', task: 'T2', data: { input: digest, bytes: 4, request: digest, watermark: 9 } },
    { type: 'task.unblocked', task: 'T2', data: {} },
    ...begin('T2', 5),
  ],
  finish('T2'),
]

/** Steering is applied at a boundary, and what is pending at a cancel goes to the next turn. */
export const steeringLog: Steps = [
  [opened, ...turn('T1')],
  [steered('T1', 'M1')],
  [steered('T1', 'M2')],
  [answered('T1'), assistantSaid('T1'), ...applied('T1', 1, 'M1', 'M2'), ...asks('T1', 1, 10)],
  [steered('T1', 'M3')],
  [
    cancelling('T1'),
    quiescing('T1'),
    { type: 'model.abandoned', task: 'T1', data: { reason: 'cancelled', charged: { input: 3, output: 2, total: 5 } } },
    ended('task.cancelled', 'T1', { steps: 1, pendingSteering: ['M3'] }),
  ],
  [
    created('T2'),
    started('T2'),
    inherited('T2', 'T1', 'M3'),
    said('T2', 'user'),
    ...applied('T2', 0, 'M3'),
    ...asks('T2', 0, 15),
  ],
  finish('T2'),
]

/** A replacement of the active task takes no steering of it; a second one ends the first unstarted. */
export const replacementLog: Steps = [
  [opened, ...turn('T1')],
  [
    answered('T1', [['C1', 'look']]),
    assistantSaid('T1', [['C1', 'look']]),
    callRequested('T1', 'C1', 'look', 'read'),
    callStarted('T1', 'C1'),
  ],
  [steered('T1', 'M1')],
  [
    created('T2', { origin: 'supersede', replaces: 'T1' }),
    cancelling('T1', { status: 'superseded', replacement: 'T2' }),
    aborting('T1', 'C1'),
    quiescing('T1', 'C1'),
  ],
  [created('T3', { origin: 'supersede', replaces: 'T1' }), ended('task.superseded', 'T2')],
  [
    callCancelled('T1', 'C1', 'interrupted'),
    toolSaid('T1', 'C1', true),
    ended('task.superseded', 'T1', {
      steps: 1,
      calls: { ...noCalls, total: 1, cancelled: 1 },
      pendingSteering: ['M1'],
    }),
    expired('T1', 'M1'),
    ...begin('T3', 10),
  ],
  finish('T3'),
]

/** An approval: the task pauses once nothing is in flight, and runs again when it is given. */
export const approvalLog: Steps = [
  [opened, ...turn('T1')],
  [
    answered('T1', [['C1', 'pay']]),
    assistantSaid('T1', [['C1', 'pay']]),
    callRequested('T1', 'C1', 'pay', 'mutate'),
    pauseRequested('T1', 'P1', 'approval', 'C1'),
    callHeld('T1', 'C1', 'approval', 'P1'),
    paused('T1', 'approval'),
  ],
  [pauseSettled('T1', 'P1', 'approve', 'C1'), resumed('T1'), callStarted('T1', 'C1')],
  // The tool asks once more, before its effect; that attempt is no start of the effect.
  [pauseRequested('T1', 'P2', 'external', 'C1'), callHeld('T1', 'C1', 'external', 'P2'), paused('T1', 'external')],
  [pauseSettled('T1', 'P2', 'resume', 'C1'), resumed('T1'), callStarted('T1', 'C1', 2)],
  [callFinished('T1', 'C1'), toolSaid('T1', 'C1'), ...asks('T1', 1, 10)],
  [
    answered('T1'),
    assistantSaid('T1'),
    ended('task.completed', 'T1', { steps: 2, calls: { ...noCalls, total: 1, succeededMutating: 1 } }),
  ],
]

/** The operator's own pause: the answer waits unstarted; rejecting the pause ends the task. */
export const ownPauseLog: Steps = [
  [opened, ...turn('T1')],
  [pauseRequested('T1', 'P1', 'operator')],
  [
    answered('T1', [['C1', 'pay']]),
    assistantSaid('T1', [['C1', 'pay']]),
    callRequested('T1', 'C1', 'pay', 'mutate'),
    paused('T1', 'operator'),
  ],
  [
    pauseSettled('T1', 'P1', 'reject'),
    callCancelled('T1', 'C1', 'before_start'),
    toolSaid('T1', 'C1', true),
    ended('task.failed', 'T1', { code: 'PAUSE_REJECTED', steps: 1, calls: { ...noCalls, total: 1, cancelled: 1 } }),
  ],
]

const usage = { input: 3, output: 0, total: 3, estimated: true } as const

/** A request fails and is asked again; a summary is made on the way; then the window is full. */
export const requestsLog: Steps = [
  [opened, ...turn('T1')],
  [{ type: 'model.failed', task: 'T1', data: { code: 'RATE', retryable: true, attempt: 1, retryAt: later, usage } }],
  [accounted('T1', { used: 3 }), requested('T1', 0, { attempt: 2 })],
  [
    answered('T1', [['C1', 'look']]),
    assistantSaid('T1', [['C1', 'look']]),
    callRequested('T1', 'C1', 'look', 'read'),
    callStarted('T1', 'C1'),
  ],
  [
    callFinished('T1', 'C1', 'failed'),
    toolSaid('T1', 'C1'),
    accounted('T1', { purpose: 'summary', used: 13 }),
    requested('T1', 1, { purpose: 'summary' }),
  ],
  [
    answered('T1'),
    { type: 'context.checkpoint', task: 'T1', data: { version: 1, summary: digest, tailStart: 2, throughRevision: 3 } },
    {
      type: 'context.compacted',
      task: 'T1',
      data: {
        algorithm: 'summarise/v1',
        tailStart: 2,
        dropped: 2,
        observed: 0,
        messagesBefore: 4,
        messagesAfter: 3,
        bytesBefore: 900,
        bytesAfter: 500,
      },
    },
    accounted('T1', { used: 23, admitted: false, occupancy: 990 }),
    ended('task.failed', 'T1', { code: 'CONTEXT_OVERFLOW', steps: 1, calls: { ...noCalls, total: 1, failed: 1 } }),
  ],
]

/** A turn with a cascade child that has a child of its own; the cancel walks over both, and leaves the isolated one. */
export const cascadeLog: Steps = [
  [opened, ...turn('T1')],
  [{ type: 'group.created', data: { group: 'G1' } }],
  [
    child('B1', { parent: 'T1', group: 'G1', idempotencyKey: 'k1' }),
    ...begin('B1', 0).map((draft) => reserve(draft, 75)),
  ],
  [child('B2', { parent: 'B1' }), ...begin('B2', 0).map((draft) => reserve(draft, 150))],
  [child('B3', { parent: 'B1', propagate: 'isolate' }), ...begin('B3', 0).map((draft) => reserve(draft, 225))],
  [{ type: 'group.sealed', data: { group: 'G1' } }],
  [
    cancelling('T1'),
    quiescing('T1'),
    cancelling('B1', { cascadedFrom: 'T1' }),
    quiescing('B1'),
    cancelling('B2', { cascadedFrom: 'T1' }),
    quiescing('B2'),
    ...['B2', 'B1', 'T1'].flatMap((task): TestDraft[] => [
      { type: 'model.abandoned', task, data: { reason: 'cancelled', charged: { input: 5, output: 0, total: 5 } } },
      ended('task.cancelled', task),
    ]),
    { type: 'group.resolved', data: { group: 'G1', results: [{ task: 'B1', status: 'cancelled', digest: null }] } },
  ],
  finish('B3'),
  [
    created('T2'),
    started('T2'),
    { type: 'result.offered', task: 'T2', data: { from: 'B3', message: 'R1' } },
    said('T2', 'user'),
    ...asks('T2', 0, 25),
  ],
  finish('T2'),
]

function reserve(draft: TestDraft, reserved: number): TestDraft {
  return draft.type === 'context.accounted' ? ({ ...draft, data: { ...draft.data, reserved } } as TestDraft) : draft
}

/** Close cancels what runs and keeps what waits; reopen starts it; erase ends everything. */
export const closeLog: Steps = [
  [opened, ...turn('T1')],
  [followUp('T2', 'T1')],
  [{ type: 'session.closing', data: { then: 'close' } }, ...cancelled('T1'), { type: 'session.closed', data: {} }],
  [{ type: 'session.reopened', data: {} }, ...begin('T2', 5)],
  [followUp('T3', 'T2')],
  [
    { type: 'session.closing', data: { then: 'erase' } },
    ended('task.cancelled', 'T3'),
    ...cancelled('T2'),
    { type: 'session.erased', data: {} },
  ],
]

export const validLogs: Readonly<Record<string, Steps>> = {
  queueLog,
  blockedLog,
  replacedLog,
  steeringLog,
  replacementLog,
  approvalLog,
  ownPauseLog,
  requestsLog,
  cascadeLog,
  closeLog,
}
