import type { Agenda, Ask } from './agenda.ts'
import type { Fact } from './facts.ts'
import { inFlight, type TaskContext } from './task-context.ts'
import type { TaskId } from './vocabulary.ts'

type Here = { context: TaskContext; event: Fact }
type PlainAsk = Extract<Ask, { task: TaskId }>['ask']

/** An ask that needs nothing but its task. */
export function asks(...names: readonly Exclude<PlainAsk, Unplain>[]) {
  return ({ context }: Here): Agenda => ({ agenda: names.map((ask) => ({ ask, task: context.id })) })
}
type Unplain =
  | 'settleAwait'
  | 'resumeRun'
  | 'followDecision'
  | 'settleUnstarted'
  | 'abandonRequest'
  | 'endTask'
  | 'failTask'
  | 'cancelTask'
  | 'settleUncertain'
  | 'expireCall'
  | 'expirePause'

const noAgenda: Agenda = { agenda: [] }

export const interrupt = {
  type: 'interruptWork',
  params: ({ context }: Here): Agenda => ({
    agenda: [
      { ask: 'settleUnstarted', task: context.id, why: 'withdrawn' },
      ...(context.request?.purpose === 'turn'
        ? [{ ask: 'abandonRequest', task: context.id, reason: 'interrupted' } as const]
        : []),
    ],
  }),
} as const

export const followDecision = {
  type: 'followDecision',
  params: ({ context, event }: Here): Agenda => {
    if (event.type !== 'pause.settled') return { agenda: [] }
    const { decision, input } = event.data
    return {
      agenda: [{ ask: 'followDecision', task: context.id, call: event.call, decision, input: input ?? null }],
    }
  },
} as const

/** A change whose outcome nobody knows: no other change starts in the session until an operator has acknowledged it. */
export const quarantine = {
  type: 'quarantine',
  params: ({ context, event }: Here): Agenda => {
    const call = event.call ?? ''
    if (context.calls[call]?.effect !== 'mutate') return { agenda: [] }
    return { agenda: [{ type: 'mutation.quarantined', task: context.id, data: { calls: [call] } }] }
  },
} as const

export const awaitAcknowledgement = {
  type: 'awaitAcknowledgement',
  params: ({ context, event }: Here): Agenda => {
    if (context.calls[event.call ?? '']?.effect !== 'mutate') return { agenda: [] }
    return { agenda: [{ ask: 'awaitAcknowledgement', task: context.id }] }
  },
} as const

/** A call that ended by itself takes its open pause with it. */
export const withdraw = {
  type: 'withdrawPause',
  params: ({ context, event }: Here): Agenda => {
    const token = Object.keys(context.pauses).find((open) => context.pauses[open]?.call === event.call)
    if (token === undefined) return { agenda: [] }
    const data = { token, decision: 'withdrawn' } as const
    return { agenda: [{ type: 'pause.settled', task: context.id, call: event.call, data }] }
  },
} as const

/** A new input has no requirement. */
export const clearRequirement = {
  type: 'clearRequirement',
  params: ({ context }: Here): Agenda =>
    context.requires === 'none' ? noAgenda : { agenda: [{ type: 'task.unblocked', task: context.id, data: {} }] },
} as const

/** A request failed for good. */
export const failWithModel = {
  type: 'failTask',
  params: ({ context, event }: Here): Agenda => {
    if (event.type !== 'model.failed') return noAgenda
    const { code, reason } = event.data
    return {
      agenda: [{ ask: 'failTask', task: context.id, code, ...(reason === undefined ? {} : { reason }) }],
    }
  },
} as const

export const checkAwait = {
  type: 'checkAwait',
  params: ({ context }: Here): Agenda => ({ agenda: [{ ask: 'settleAwait', task: context.id, how: 'done' }] }),
} as const

export const admit = { type: 'admitCalls', params: asks('admitCalls', 'restIfIdle') } as const
export const answer = { type: 'answerCalls', params: asks('answerCalls') } as const
export const rest = { type: 'restIfIdle', params: asks('restIfIdle') } as const
export const conclude = { type: 'concludeBarrier', params: asks('concludeBarrier') } as const
export const recover = { type: 'recoverTask', params: asks('recoverTask') } as const
export const continueTurn = { type: 'continueTurn', params: asks('continueTurn') } as const

/**
 * In the order in which a barrier goes up: the request, what is not in flight, the started calls, the tree below. Where a walk
 * from above came by, it reaches that tree itself.
 */
export const raiseBarrier = {
  type: 'raiseBarrier',
  params: ({ context }: Here): Agenda => ({
    agenda: [
      ...(context.request === null ? [] : [{ ask: 'abandonRequest', task: context.id, reason: 'cancelled' } as const]),
      { ask: 'settleUnstarted', task: context.id, why: 'before_start' },
      { ask: 'abortCalls', task: context.id },
      ...(context.barrier?.cascadedFrom === undefined ? [{ ask: 'cancelDescendants', task: context.id } as const] : []),
      { type: 'task.quiescing', task: context.id, data: { calls: inFlight(context) } },
    ],
  }),
} as const

export const settleUnknown = [
  { guard: 'settlesBatch', target: 'boundary', actions: ['fold', quarantine, withdraw, answer, awaitAcknowledgement] },
  { actions: ['fold', quarantine, withdraw, awaitAcknowledgement, admit] },
] as const
export const foldUnknown = { actions: ['fold', quarantine, withdraw] } as const
export const foldUnknownAndConclude = { actions: ['fold', quarantine, conclude] } as const
export const fold = { actions: 'fold' } as const
export const foldDescendant = { guard: 'isDescendants', actions: 'fold' } as const
export const foldDescendantAndConclude = { guard: 'isDescendants', actions: ['fold', conclude] } as const
export const settle = [
  { guard: 'settlesBatch', target: 'boundary', actions: ['fold', withdraw, answer] },
  { actions: ['fold', withdraw, admit] },
] as const
export const foldAndRest = { actions: ['fold', rest] } as const
export const foldAndWithdraw = { actions: ['fold', withdraw] } as const
export const foldAndConclude = { actions: ['fold', conclude] } as const

export const descendantFacts = {
  'task.created': foldDescendant,
  'task.completed': foldDescendant,
  'task.cancelled': foldDescendant,
  'task.superseded': foldDescendant,
} as const

export const failed = [foldDescendant, { guard: 'mayFail', target: '#task.terminal.failed', actions: 'fold' }] as const

export const conclusions = (status: 'failed' | 'cancelled' | 'superseded') =>
  [foldDescendantAndConclude, { guard: 'concludes', target: `#task.terminal.${status}`, actions: 'fold' }] as const
