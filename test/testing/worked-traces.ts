import {
  aborting,
  acknowledged,
  answered,
  applied,
  asks,
  assistantSaid,
  callCancelled,
  callFinished,
  callHeld,
  callRequested,
  callStarted,
  callUnknown,
  cancelling,
  created,
  digest,
  ended,
  noCalls,
  opened,
  pauseRequested,
  pauseSettled,
  quarantined,
  quiescing,
  said,
  started,
  steered,
  toolSaid,
  turn,
} from './drafts.ts'
import type { Steps } from './log-builder.ts'

/** The three worked traces of the documentation of facts, with what must stand before and after them. */

export const supersedeTrace: Steps = [
  [opened, ...turn('T1')],
  [
    answered('T1', [['C1', 'pay']]),
    assistantSaid('T1', [['C1', 'pay']]),
    callRequested('T1', 'C1', 'pay', 'mutate'),
    callStarted('T1', 'C1'),
  ],
  [
    created('T2', { origin: 'supersede', replaces: 'T1' }),
    cancelling('T1', { status: 'superseded', replacement: 'T2' }),
    aborting('T1', 'C1'),
    quiescing('T1', 'C1'),
  ],
  [
    callUnknown('T1', 'C1'),
    quarantined('T1', 'C1'),
    toolSaid('T1', 'C1', true),
    ended('task.superseded', 'T1', {
      steps: 1,
      calls: { ...noCalls, total: 1, unknownMutating: 1 },
      replacement: 'T2',
    }),
    started('T2'),
    said('T2', 'system'),
    said('T2', 'user'),
    ...asks('T2', 0, 10),
  ],
  [
    answered('T2', [
      ['C2', 'look'],
      ['C3', 'pay'],
    ]),
    assistantSaid('T2', [
      ['C2', 'look'],
      ['C3', 'pay'],
    ]),
    callRequested('T2', 'C2', 'look', 'read'),
    callRequested('T2', 'C3', 'pay', 'mutate'),
    callStarted('T2', 'C2'),
    callHeld('T2', 'C3', 'quarantine'),
  ],
  [{ type: 'call.late', task: 'T1', call: 'C1', data: { outcome: 'succeeded', digest } }],
  [callFinished('T2', 'C2')],
  [acknowledged('C1'), callStarted('T2', 'C3')],
  [callFinished('T2', 'C3'), toolSaid('T2', 'C2'), toolSaid('T2', 'C3'), ...asks('T2', 1, 20)],
  [
    answered('T2'),
    assistantSaid('T2'),
    ended('task.completed', 'T2', { steps: 2, calls: { ...noCalls, total: 2, succeededMutating: 1 } }),
  ],
]

export const interruptTrace: Steps = [
  [opened, ...turn('T1')],
  [
    answered('T1', [
      ['C1', 'look'],
      ['C2', 'pay'],
    ]),
    assistantSaid('T1', [
      ['C1', 'look'],
      ['C2', 'pay'],
    ]),
    callRequested('T1', 'C1', 'look', 'read'),
    callRequested('T1', 'C2', 'pay', 'mutate'),
    pauseRequested('T1', 'P1', 'approval', 'C2'),
    callHeld('T1', 'C2', 'approval', 'P1'),
    callStarted('T1', 'C1'),
  ],
  [
    steered('T1', 'M1', 'interrupt'),
    callCancelled('T1', 'C2', 'withdrawn'),
    pauseSettled('T1', 'P1', 'withdrawn', 'C2'),
  ],
  [
    callFinished('T1', 'C1'),
    toolSaid('T1', 'C1'),
    toolSaid('T1', 'C2', true),
    ...applied('T1', 1, 'M1'),
    ...asks('T1', 1, 10),
  ],
  [
    answered('T1'),
    assistantSaid('T1'),
    ended('task.completed', 'T1', { steps: 2, calls: { ...noCalls, total: 2, cancelled: 1 } }),
  ],
]

const newOwner = { id: 'instance-2', epoch: 2 }

export const crashTrace: Steps = [
  [opened, ...turn('T1')],
  [
    answered('T1', [
      ['C1', 'look'],
      ['C2', 'put'],
      ['C3', 'pay'],
    ]),
    assistantSaid('T1', [
      ['C1', 'look'],
      ['C2', 'put'],
      ['C3', 'pay'],
    ]),
    callRequested('T1', 'C1', 'look', 'read'),
    callRequested('T1', 'C2', 'put', 'idempotent'),
    callRequested('T1', 'C3', 'pay', 'mutate'),
    callStarted('T1', 'C1'),
    callStarted('T1', 'C2'),
    callStarted('T1', 'C3'),
  ],
  [
    { type: 'session.owned', data: { owner: 'instance-2', epoch: 2 }, owner: newOwner },
    { type: 'run.resumed', task: 'T1', data: { attempt: 1, reason: 'crash' } },
    callUnknown('T1', 'C3', 'crash'),
    quarantined('T1', 'C3'),
    { type: 'call.interrupted', task: 'T1', call: 'C1', data: { attempt: 1 } },
    callStarted('T1', 'C1', 2),
    { type: 'call.interrupted', task: 'T1', call: 'C2', data: { attempt: 1 } },
    callHeld('T1', 'C2', 'quarantine'),
  ],
  [callFinished('T1', 'C1')],
  [acknowledged('C3'), callStarted('T1', 'C2', 2)],
  [
    callFinished('T1', 'C2'),
    toolSaid('T1', 'C1'),
    toolSaid('T1', 'C2'),
    toolSaid('T1', 'C3', true),
    ...asks('T1', 1, 10),
  ],
  [
    answered('T1'),
    assistantSaid('T1'),
    ended('task.completed', 'T1', { steps: 2, calls: { ...noCalls, total: 3, unknownMutating: 1 } }),
  ],
]
