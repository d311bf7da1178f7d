import type { Receipt } from '../../../src/runtime/command.ts'
import type { PauseView } from '../../../src/runtime/pause-view.ts'
import type { Session } from '../../../src/runtime/session.ts'
import type { TaskView } from '../../../src/runtime/state-view.ts'

export interface Situation {
  readonly tasks: readonly TaskView[]
  readonly pauses: readonly PauseView[]
  readonly calls: readonly { readonly value: string; readonly name: string }[]
  readonly quarantined: readonly string[]
  readonly lifecycle: string
  /** A model request is in flight. */
  readonly waits: boolean
}

export interface Move {
  readonly id: string
  readonly send: (session: Session) => Promise<Receipt>
}

const turn = async (handle: Promise<{ receipt: Receipt | null }>): Promise<Receipt> => {
  const { receipt } = await handle
  if (receipt === null) throw new Error('a new turn has a receipt')
  return receipt
}

/** What the operator does next, in this situation and after these receipts. */
export function nextMove(
  situation: Situation,
  receipts: ReadonlyMap<string, Receipt>,
  end: 'close' | 'erase',
): Move | 'wait' | 'done' {
  const { lifecycle } = situation
  if (lifecycle === 'closed' || lifecycle === 'erased') return 'done'
  const wanted = [...openings(situation), ...decisions(situation), ...commands(situation), ...ends(situation, end)]
  return wanted.find((move) => !receipts.has(move.id)) ?? 'wait'
}

function openings({ tasks }: Situation): readonly Move[] {
  return [
    { id: 'start', send: (session) => turn(session.start('the first', { commandId: 'start' })) },
    ...(tasks.length === 0
      ? []
      : [{ id: 'second', send: (session: Session) => turn(session.followUp('the second', { commandId: 'second' })) }]),
  ]
}

/** Steers once while an approval is open, then decides about everything that waits. */
function decisions({ tasks, pauses, quarantined }: Situation): readonly Move[] {
  const moves: Move[] = []
  const first = tasks[0]
  if (first?.state === 'paused' && pauses.some((pause) => pause.reason === 'approval'))
    moves.push({
      id: 'steer',
      send: (session) => session.steer('mind the fee', { task: first.id, commandId: 'steer' }),
    })
  for (const { token, reason } of pauses) {
    const id = `decide-${token}`
    const answer = reason === 'approval' ? { decision: 'approve' as const } : { decision: 'resume' as const, input: 7 }
    if (reason !== 'acknowledgement')
      moves.push({ id, send: (session) => session.resume(token, { ...answer, commandId: id }) })
  }
  const calls = [...quarantined]
  const id = `acknowledge-${calls.join('-').slice(0, 100)}`
  if (calls.length > 0) moves.push({ id, send: (session) => session.acknowledge(calls, { commandId: id }) })
  return moves
}

function commands({ tasks, calls, waits }: Situation): readonly Move[] {
  const moves: Move[] = []
  const [first, second, third] = tasks
  const slow = calls.some((call) => call.name === 'slow' && call.value === 'started')
  if (first?.state === 'terminal' && second !== undefined && (slow || second.state === 'terminal')) {
    moves.push({
      id: 'third',
      send: (session) => turn(session.followUp('the third', { requires: 'success', commandId: 'third' })),
    })
    if (third !== undefined)
      moves.push({ id: 'cancel', send: (session) => session.cancel({ task: second.id, commandId: 'cancel' }) })
  }
  if (third?.state === 'blocked')
    moves.push({ id: 'unblock', send: (session) => session.unblock(third.id, { commandId: 'unblock' }) })
  if ((third?.state === 'running' && waits) || third?.state === 'terminal')
    moves.push({ id: 'fourth', send: (session) => turn(session.supersede('the fourth', { commandId: 'fourth' })) })
  return moves
}

function ends({ tasks, calls }: Situation, end: 'close' | 'erase'): readonly Move[] {
  const fourth = tasks[3]
  const slow = calls.some((call) => call.name === 'slow' && call.value === 'started')
  if (fourth === undefined || !(fourth.state === 'terminal' || (fourth.state === 'running' && slow))) return []
  return [{ id: 'end', send: (session) => session[end]({ cancel: true, commandId: 'end' }) }]
}
