import type { Receipt } from '../../src/runtime/command.ts'
import type { Session } from '../../src/runtime/session.ts'
import type { Command } from '../reference/commands.ts'
import type { Model } from '../reference/model.ts'
import type { Move } from './moves.ts'

type OfWorld = 'final' | 'stale' | 'grace' | 'moment' | 'crash' | 'calls' | 'return' | 'throw' | 'lose' | 'stop'
type Operator = Exclude<Move, { readonly do: OfWorld }>

interface Names {
  readonly id: (name: string) => string | undefined
  readonly model: Model
  /** Of the pause that was opened last. */
  readonly token: string
  readonly next: (letter: 'T' | 'S') => string
}

export interface Submitted {
  readonly command: Command
  readonly sent: Promise<Receipt>
}

/** The same command in the words of the reference model and of the session. Null when it names what was never made. */
export function submit(session: Session, move: Operator, names: Names): Submitted | null {
  const age = 'task' in move ? move.task : undefined
  const named = age === undefined ? undefined : names.model.tasks[age]?.id
  if (age !== undefined && named === undefined) return null
  const ours = named === undefined ? {} : { task: named }
  const theirs = named === undefined ? {} : { task: names.id(named) ?? '' }
  switch (move.do) {
    case 'supersede': {
      const command: Command = { type: 'supersede', id: names.next('T'), ...ours }
      return { command, sent: session.supersede('a better question', theirs).then((task) => receiptOf(task)) }
    }
    case 'steer': {
      const command: Command = { type: 'steer', id: names.next('S'), mode: move.mode, ...ours }
      return { command, sent: session.steer('mind the gap', { mode: move.mode, ...theirs }) }
    }
    case 'cancel': {
      const command: Command = { type: 'cancel', steering: move.steering, ...ours }
      return { command, sent: session.cancel({ steering: move.steering, ...theirs }) }
    }
    case 'unblock':
      return { command: { type: 'unblock', task: named ?? '' }, sent: session.unblock(theirs.task ?? '') }
    case 'replace':
      return {
        command: { type: 'replace', task: named ?? '' },
        sent: session.replace(theirs.task ?? '', 'another question'),
      }
    default:
      return ofSession(session, move, names)
  }
}

type OfTask = 'supersede' | 'steer' | 'cancel' | 'unblock' | 'replace'

function ofSession(session: Session, move: Exclude<Operator, { readonly do: OfTask }>, names: Names): Submitted {
  switch (move.do) {
    case 'start': {
      const command: Command = { type: 'start', id: names.next('T') }
      return { command, sent: session.start('a question').then((task) => receiptOf(task)) }
    }
    case 'followUp': {
      const { requires } = move
      const command: Command = { type: 'followUp', id: names.next('T'), requires }
      return { command, sent: session.followUp('one more question', { requires }).then((task) => receiptOf(task)) }
    }
    case 'acknowledge': {
      const call = move.which === 'all' ? undefined : names.model.quarantine[move.which]
      if (call === undefined)
        return { command: { type: 'acknowledge', calls: 'all' }, sent: session.acknowledge('all') }
      return { command: { type: 'acknowledge', calls: [call] }, sent: session.acknowledge([names.id(call) ?? '']) }
    }
    case 'close':
      return { command: { type: 'close', cancel: move.cancel }, sent: session.close({ cancel: move.cancel }) }
    case 'erase':
      return { command: { type: 'erase', cancel: move.cancel }, sent: session.erase({ cancel: move.cancel }) }
    case 'pause':
      return { command: { type: 'pause' }, sent: session.pause() }
    case 'resume': {
      const { decision } = move
      return { command: { type: 'resume', decision }, sent: session.resume(names.token, { decision }) }
    }
    case 'reopen':
      return { command: { type: 'reopen' }, sent: session.reopen() }
  }
}

function receiptOf(task: { readonly receipt: Receipt | null }): Receipt {
  if (task.receipt === null) throw new Error('a command that makes a task gave no receipt')
  return task.receipt
}
