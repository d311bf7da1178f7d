import {
  abandoned,
  awaiting,
  awaitSettled,
  group,
  offered,
  progressed,
  spawned,
  told,
  walked,
  walkedOver,
} from './background-drafts.ts'
import {
  aborting,
  answered,
  applied,
  asks,
  assistantSaid,
  callRequested,
  callStarted,
  created,
  ended,
  expired,
  noCalls,
  opened,
  quiescing,
  requested,
  said,
  started,
  steered,
  toolSaid,
  turn,
} from './drafts.ts'
import type { Steps, TestDraft } from './log-builder.ts'
import { finish } from './valid-logs.ts'

/** Logs of background work that break no rule. Answers cost 10, abandoned requests 5, reservations are 75. */

const spawns = [
  ['S1', 'task_spawn'],
  ['S2', 'task_spawn'],
] as const

/** A turn spawns two members, awaits their group, and goes on when it has resolved. */
export const groupLog: Steps = [
  [opened, ...turn('T1')],
  [group('group.created', 'G1')],
  [
    answered('T1', spawns),
    assistantSaid('T1', spawns),
    ...spawned('B1', { parent: 'T1', group: 'G1', idempotencyKey: 'S1' }, 10, 0),
    ...spawned('B2', { parent: 'T1', group: 'G1', idempotencyKey: 'S2' }, 10),
    toolSaid('T1', 'S1'),
    toolSaid('T1', 'S2'),
    ...asks('T1', 1, 10, 150),
  ],
  [
    answered('T1', [['W1', 'task_await']]),
    assistantSaid('T1', [['W1', 'task_await']]),
    awaiting('T1', { forCall: 'W1', group: 'G1' }),
  ],
  [group('group.sealed', 'G1', { members: ['B1', 'B2'] })],
  finish('B1'),
  [
    ...finish('B2'),
    group('group.resolved', 'G1', { results: told(['B1', 'completed'], ['B2', 'completed']) }),
    awaitSettled('T1', 'done', told(['B1', 'completed'], ['B2', 'completed'])),
    toolSaid('T1', 'W1'),
    ...asks('T1', 2, 40),
  ],
  [answered('T1'), assistantSaid('T1'), ended('task.completed', 'T1', { steps: 3, calls: { ...noCalls, total: 3 } })],
]

/** The first failure of a member ends the others, with the cascade child of one of them. */
export const failFastLog: Steps = [
  [opened, ...turn('T1')],
  [group('group.created', 'G1', { failFast: true })],
  [...spawned('B1', { group: 'G1' })],
  [...spawned('B2', { group: 'G1' }, 0, 150)],
  [...spawned('B3', { parent: 'B2' }, 0, 225)],
  [group('group.sealed', 'G1')],
  [
    { type: 'model.failed', task: 'B1', data: { code: 'REFUSED', retryable: false, attempt: 1 } },
    ended('task.failed', 'B1', { code: 'REFUSED' }),
    ...walked('B2', 'B1'),
    ...walked('B3', 'B2'),
    ...walkedOver('B3', 'B2'),
    group('group.resolved', 'G1', { results: told(['B1', 'failed'], ['B2', 'cancelled']) }),
  ],
  [group('group.created', 'G2')],
  [...spawned('B4', { group: 'G2' }, 10)],
  [...walked('B4'), ...walkedOver('B4'), group('group.cancelled', 'G2')],
]

/** One await ends by its deadline, the next by an interrupt, the last with its task. */
export const awaitLog: Steps = [
  [opened, ...turn('T1')],
  [...spawned('B1', { parent: 'T1' })],
  [
    answered('T1', [['W1', 'task_await']]),
    assistantSaid('T1', [['W1', 'task_await']]),
    awaiting('T1', { forCall: 'W1', tasks: ['B1'], deadline: '2026-01-01T00:00:00.000Z' }),
  ],
  [awaitSettled('T1', 'deadline', told(['B1', null])), toolSaid('T1', 'W1'), ...asks('T1', 1, 10, 75)],
  [
    answered('T1', [['W2', 'task_await']]),
    assistantSaid('T1', [['W2', 'task_await']]),
    awaiting('T1', { forCall: 'W2', tasks: ['B1'] }),
  ],
  [
    steered('T1', 'M1', 'interrupt'),
    awaitSettled('T1', 'interrupted'),
    toolSaid('T1', 'W2', true),
    ...applied('T1', 2, 'M1'),
    ...asks('T1', 2, 20, 75),
  ],
  [
    answered('T1', [['W3', 'task_await']]),
    assistantSaid('T1', [['W3', 'task_await']]),
    awaiting('T1', { forCall: 'W3', tasks: ['B1'] }),
  ],
  [
    ...walked('T1').slice(0, 1),
    awaitSettled('T1', 'cancelled'),
    ...walked('T1').slice(1),
    ...walked('B1', 'T1'),
    ...walkedOver('B1'),
    toolSaid('T1', 'W3', true),
    ended('task.cancelled', 'T1', { steps: 3, calls: { ...noCalls, total: 3 } }),
  ],
]

/** Completion leaves children running; what ends after its parent is offered to the next turn, once; steering of it expires. */
export const orphansLog: Steps = [
  [opened, ...turn('T1')],
  [...spawned('B1', { parent: 'T1' })],
  [...spawned('B2', { parent: 'B1' }, 0, 150)],
  [...spawned('B3', { parent: 'T1', propagate: 'isolate' }, 0, 225)],
  [progressed('B2'), steered('B2', 'M1')],
  finish('B3'),
  [...finish('T1')],
  [...finish('B1')],
  [created('T2'), started('T2'), offered('T2', 'B1'), said('T2', 'user'), ...asks('T2', 0, 30, 75)],
  [
    { type: 'model.failed', task: 'B2', data: { code: 'REFUSED', retryable: false, attempt: 1 } },
    ended('task.failed', 'B2', { pendingSteering: ['M1'] }),
    expired('B2', 'M1'),
  ],
  finish('T2'),
  [created('T3'), started('T3'), offered('T3', 'B2'), said('T3', 'user'), ...asks('T3', 0, 40)],
  finish('T3'),
]

/** The walk passes through a terminal descendant to its living child, and leaves an isolated one with its subtree. */
export const walkLog: Steps = [
  [opened, ...turn('T1')],
  [...spawned('B1', { parent: 'T1' })],
  [...spawned('B2', { parent: 'B1' }, 0, 150)],
  [...spawned('B3', { parent: 'T1', propagate: 'isolate' }, 0, 225)],
  [...spawned('B4', { parent: 'B3' }, 0, 300)],
  finish('B1'),
  [...walked('T1'), ...walked('B2', 'B1'), ...walkedOver('B2', 'T1')],
  finish('B4'),
  finish('B3'),
]

/** The terminal of a task whose child runs a call waits for it; the parent may be spawned under while it runs. */
export const slowChildLog: Steps = [
  [opened, ...turn('T1')],
  [...spawned('B1', { parent: 'T1' })],
  [
    answered('B1', [['C1', 'look']]),
    assistantSaid('B1', [['C1', 'look']]),
    callRequested('B1', 'C1', 'look', 'read'),
    callStarted('B1', 'C1'),
  ],
  slowCancel(),
  [
    { type: 'call.cancelled', task: 'B1', call: 'C1', data: { when: 'acknowledged' } },
    toolSaid('B1', 'C1', true),
    ended('task.cancelled', 'B1', { steps: 1, calls: { ...noCalls, total: 1, cancelled: 1 } }),
    ended('task.cancelled', 'T1'),
  ],
]

/** Background requests share the session's budget. */
export const sharedBudgetLog: Steps = [
  [opened, created('T1'), started('T1'), said('T1', 'user'), ...limited('T1', 0, 0)],
  [...spawned('B1', { parent: 'T1' }).slice(0, 3), ...limited('B1', 0, 75)],
  finish('B1'),
  finish('T1'),
]

function limited(task: string, used: number, reserved: number): TestDraft[] {
  const [account] = asks(task, 0, used, reserved)
  if (account === undefined) throw new Error('a request has an account')
  return [{ ...account, data: { ...account.data, limit: 160 } } as TestDraft, requested(task, 0)]
}

function slowCancel(): TestDraft[] {
  const [shut, rest] = walked('T1')
  const [childShut] = walked('B1', 'T1')
  if (shut === undefined || rest === undefined || childShut === undefined) throw new Error('a walk has two facts')
  return [shut, abandoned('T1'), rest, childShut, aborting('B1', 'C1'), quiescing('B1', 'C1')]
}

export const backgroundLogs: Readonly<Record<string, Steps>> = {
  groupLog,
  failFastLog,
  awaitLog,
  orphansLog,
  walkLog,
  slowChildLog,
  sharedBudgetLog,
}
