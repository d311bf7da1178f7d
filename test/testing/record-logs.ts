import type { FactData } from '../../machines/facts.ts'
import type { CapabilityRef, Grant } from '../../machines/vocabulary.ts'
import {
  accounted,
  answered,
  applied,
  asks,
  assistantSaid,
  callFinished,
  callHeld,
  callRequested,
  callStarted,
  created,
  digest,
  ended,
  noCalls,
  opened,
  paused,
  pauseRequested,
  pauseSettled,
  requested,
  resumed,
  said,
  started,
  steered,
  toolSaid,
  turn,
} from './drafts.ts'
import type { Steps, TestDraft } from './log-builder.ts'

/** Logs of pauses, records and capabilities that break no rule. */

const ask = [['A1', 'operator_ask']] as const

/** The planner asks; it is answered, asks again and is interrupted. */
export const askLog: Steps = [
  [opened, ...turn('T1')],
  [answered('T1', ask), assistantSaid('T1', ask), pauseRequested('T1', 'P1', 'input'), paused('T1', 'input')],
  [pauseSettled('T1', 'P1', 'resume'), resumed('T1'), toolSaid('T1', 'A1'), ...asks('T1', 1, 10)],
  [
    answered('T1', [['A2', 'operator_ask']]),
    assistantSaid('T1', [['A2', 'operator_ask']]),
    pauseRequested('T1', 'P2', 'input'),
    paused('T1', 'input'),
  ],
  [
    steered('T1', 'M1', 'interrupt'),
    pauseSettled('T1', 'P2', 'withdrawn'),
    resumed('T1'),
    toolSaid('T1', 'A2', true),
    ...applied('T1', 2, 'M1'),
    ...asks('T1', 2, 20),
  ],
  finish3('T1'),
]

function finish3(task: string): TestDraft[] {
  return [
    answered(task),
    assistantSaid(task),
    ended('task.completed', task, { steps: 3, calls: { ...noCalls, total: 2 } }),
  ]
}

type Message = Partial<FactData['message.added']>

function viewed(role: FactData['message.added']['role'], extra: Message = {}): TestDraft {
  return { type: 'message.added', data: { message: `v-${role}`, role, digest, bytes: 5, ...extra } }
}

const usage = { input: 70, output: 30, total: 100 }

export const restored: TestDraft = {
  type: 'session.restored',
  data: { from: digest, turns: 1, revision: 4, usage, quarantined: ['C9'] },
}

/** A finished session that goes on elsewhere, with what it had used and what was quarantined. */
export const restoredLog: Steps = [
  [
    opened,
    viewed('user'),
    viewed('assistant', { toolCalls: [{ call: 'C0', name: 'look' }] }),
    viewed('tool', { forCall: 'C0' }),
    viewed('assistant'),
  ],
  [restored],
  turn('T1', 100),
  [
    answered('T1', [['C1', 'pay']]),
    assistantSaid('T1', [['C1', 'pay']]),
    callRequested('T1', 'C1', 'pay', 'mutate'),
    callHeld('T1', 'C1', 'quarantine'),
  ],
  [{ type: 'mutation.acknowledged', data: { calls: ['C9'] } }, callStarted('T1', 'C1')],
]

function note(
  type: 'memory.put' | 'memory.removed' | 'memory.promoted',
  scope: FactData['memory.put']['scope'],
  extra: Partial<FactData['memory.put']> = {},
): TestDraft {
  return { type, data: { key: digest, scope, ...(type === 'memory.put' ? { digest } : {}), ...extra } }
}

export const memoryLog: Steps = [
  [opened, note('memory.put', 'session')],
  [note('memory.put', 'session')],
  [note('memory.removed', 'session')],
]

/** The control stream opens no session. */
export const controlLog: Steps = [
  [{ type: 'provider.disabled', data: { id: 'host' } }],
  [{ type: 'provider.enabled', data: { id: 'host' } }],
  [{ type: 'capability.revoked', data: { id: 'tool:pay' } }],
  [{ type: 'audit.elevated', data: { actor: 'root', surface: 'sessions', filter: {} } }],
  [note('memory.promoted', 'user', { decision: 'denied' })],
  [note('memory.promoted', 'tenant', { decision: 'allowed', digest }), note('memory.put', 'tenant')],
]

export function accepted(command: string, extra: Partial<FactData['command.accepted']> = {}): TestDraft {
  return {
    type: 'command.accepted',
    command,
    data: { command, name: 'start', body: digest, result: 'applied', ...extra },
  }
}

export const commandLog: Steps = [
  [opened, ...turn('T1'), accepted('c1')],
  [steered('T1', 'M1'), accepted('c2', { name: 'steer', result: 'queued' })],
  [accepted('c3', { name: 'cancel', result: 'too_late' })],
]

export function ref(id: string, extra: Partial<CapabilityRef> = {}): CapabilityRef {
  return { id, generation: 1, contract: 'sha256:00', provider: 'host', binding: 1, ...extra }
}

const grants: { readonly [id: string]: Grant } = {
  'tool:pay': { level: 'execute', confirm: 'once' },
  'tool:more': { level: 'load', confirm: 'none' },
  'skill:plan': { level: 'activate', confirm: 'none' },
}

function capability(
  type: 'capability.loaded' | 'capability.activated' | 'capability.released',
  id: string,
  scope: 'task' | 'step',
): TestDraft {
  return { type, task: 'T1', data: { ref: ref(id), scope, bytes: 9, content: digest } }
}

const withRefs: TestDraft = {
  ...started('T1', grants),
  data: { ...started('T1', grants).data, capabilities: Object.keys(grants).map((id) => ref(id)) },
} as TestDraft

function pays(call: string): TestDraft {
  const asked = callRequested('T1', call, 'pay', 'mutate')
  return { ...asked, data: { ...asked.data, ref: ref('tool:pay') } } as TestDraft
}

/** Loads, a skill for one step, and a capability that is confirmed once. */
export const capabilityLog: Steps = [
  [opened, created('T1'), withRefs, said('T1', 'user'), ...asks('T1', 0, 0)],
  [
    answered('T1', [['L1', 'tools_load']]),
    assistantSaid('T1', [['L1', 'tools_load']]),
    capability('capability.loaded', 'tool:more', 'task'),
    capability('capability.activated', 'skill:plan', 'step'),
    toolSaid('T1', 'L1'),
    ...asks('T1', 1, 10),
  ],
  [
    answered('T1', [['C1', 'pay']]),
    assistantSaid('T1', [['C1', 'pay']]),
    capability('capability.released', 'skill:plan', 'step'),
    pays('C1'),
    pauseRequested('T1', 'P1', 'approval', 'C1'),
    callHeld('T1', 'C1', 'approval', 'P1'),
    paused('T1', 'approval'),
  ],
  [pauseSettled('T1', 'P1', 'approve', 'C1'), resumed('T1'), callStarted('T1', 'C1')],
  [callFinished('T1', 'C1'), toolSaid('T1', 'C1'), ...asks('T1', 2, 20)],
  [answered('T1', [['C2', 'pay']]), assistantSaid('T1', [['C2', 'pay']]), pays('C2'), callStarted('T1', 'C2')],
]

function episode(type: 'episode.started' | 'episode.ended', data: object): TestDraft {
  return { type, task: 'T1', data } as TestDraft
}

function compacted(extra: object = {}): TestDraft {
  const sizes = { messagesBefore: 4, messagesAfter: 3, bytesBefore: 900, bytesAfter: 500 }
  const data = { algorithm: 'summarise/v1', tailStart: 2, dropped: 2, observed: 0, ...sizes, ...extra }
  return { type: 'context.compacted', task: 'T1', data }
}

export function checkpoint(version: number): TestDraft {
  return {
    type: 'context.checkpoint',
    task: 'T1',
    data: { version, summary: digest, tailStart: 2, throughRevision: 3 },
  }
}

export function warned(percent: number, used: number): TestDraft {
  return { type: 'budget.warning', task: 'T1', data: { what: 'tokens', used, limit: 1000, percent } }
}

const explored = { episode: 'E1', kind: 'exploration' } as const

/** Summaries, episodes and warnings. */
export const contextLog: Steps = [
  [opened, ...turn('T1')],
  [
    answered('T1', [['E1', 'episode_start']]),
    assistantSaid('T1', [['E1', 'episode_start']]),
    episode('episode.started', explored),
    toolSaid('T1', 'E1'),
    accounted('T1', { purpose: 'summary', used: 10 }),
    requested('T1', 1, { purpose: 'summary' }),
  ],
  [answered('T1'), checkpoint(1), compacted(), warned(50, 600), ...asks('T1', 1, 20)],
  [
    answered('T1', [['E2', 'episode_end']]),
    assistantSaid('T1', [['E2', 'episode_end']]),
    episode('episode.ended', { ...explored, conclusion: digest }),
    episode('episode.started', { episode: 'E2', kind: 'action', basedOn: ['E1'] }),
    toolSaid('T1', 'E2'),
    accounted('T1', { purpose: 'summary', used: 30 }),
    requested('T1', 2, { purpose: 'summary' }),
  ],
  [answered('T1'), checkpoint(2), compacted(), ...asks('T1', 2, 40)],
]

/** A call that fails in the same way twice, and then in another way. */
export const setbackLog: Steps = [
  [opened, ...turn('T1')],
  ...[0, 1, 2].flatMap((at) => failing(at, at === 2 ? 'OTHER' : 'GONE')),
]

function failing(at: number, code: string): Steps {
  const call = `C${at}`
  const end = callFinished('T1', call, 'failed')
  return [
    [
      answered('T1', [[call, 'look']]),
      assistantSaid('T1', [[call, 'look']]),
      callRequested('T1', call, 'look', 'read'),
      callStarted('T1', call),
    ],
    [{ ...end, data: { ...end.data, code } } as TestDraft, toolSaid('T1', call), ...asks('T1', at + 1, 10 * (at + 1))],
  ]
}

export const recordLogs: Readonly<Record<string, Steps>> = {
  askLog,
  restoredLog,
  memoryLog,
  commandLog,
  capabilityLog,
  contextLog,
  setbackLog,
}
