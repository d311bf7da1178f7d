import { LandfallError } from '../../facts/errors.ts'
import type { Receipt } from '../../runtime/command.ts'
import type { Session } from '../../runtime/session.ts'
import type { Output } from '../output.ts'
import { splitFirst } from './chat-line.ts'
import type { ChatPauses } from './chat-pauses.ts'

export interface ChatParts {
  readonly session: Session
  readonly pauses: ChatPauses
  readonly output: Output
  readonly leave: () => void
}

interface ChatCommand {
  /** As it is written in the help. */
  readonly usage: string
  readonly does: string
  readonly run: (parts: ChatParts, rest: string) => Promise<Receipt | null>
}

/** Everything that can be said besides words for a turn. */
const commands: { readonly [name: string]: ChatCommand } = {
  steer: {
    usage: '/steer TEXT',
    does: 'add to the turn that works, at its next boundary',
    run: ({ session }, rest) => session.steer(worded(rest)),
  },
  interrupt: {
    usage: '/interrupt TEXT',
    does: 'the same, and cut the answer that is coming',
    run: ({ session }, rest) => session.steer(worded(rest), { mode: 'interrupt' }),
  },
  queue: {
    usage: '/queue TEXT',
    does: 'a turn behind all others, as words without a command are',
    run: async ({ session }, rest) => (await session.followUp(worded(rest))).receipt,
  },
  supersede: {
    usage: '/supersede TEXT',
    does: 'replace the turn that works by another one',
    run: async ({ session }, rest) => (await session.supersede(worded(rest))).receipt,
  },
  cancel: {
    usage: '/cancel [REASON]',
    does: 'end the turn that works',
    run: ({ session }, rest) => session.cancel(rest === '' ? {} : { reason: rest }),
  },
  pause: { usage: '/pause', does: 'let the turn rest at its next boundary', run: ({ session }) => session.pause() },
  resume: {
    usage: '/resume [N]',
    does: 'let a paused turn go on',
    run: async ({ session, pauses }, rest) => session.resume((await pauses.find(rest)).token, { decision: 'resume' }),
  },
  approve: {
    usage: '/approve [N]',
    does: 'allow a call that waits for it',
    run: async ({ session, pauses }, rest) => {
      const { token, reason } = await pauses.find(rest)
      return reason === 'approval' ? session.confirm(token, 'allow') : session.resume(token, { decision: 'approve' })
    },
  },
  deny: {
    usage: '/deny [N]',
    does: 'refuse it, or turn a question down',
    run: async ({ session, pauses }, rest) => {
      const { token, reason } = await pauses.find(rest)
      return reason === 'approval' ? session.confirm(token, 'deny') : session.resume(token, { decision: 'reject' })
    },
  },
  answer: {
    usage: '/answer [N] TEXT',
    does: 'answer a question',
    run: async ({ session, pauses }, rest) => {
      const { first, more } = splitFirst(rest)
      const numbered = /^\d+$/.test(first) && more !== ''
      const { token } = await pauses.find(numbered ? first : '')
      return session.resume(token, { decision: 'resume', input: worded(numbered ? more : rest) })
    },
  },
  acknowledge: {
    usage: '/acknowledge [CALL …]',
    does: 'you have looked at the changes with unknown outcome; all, or those named',
    run: ({ session }, rest) => session.acknowledge(rest === '' || rest === 'all' ? 'all' : rest.split(/\s+/)),
  },
  unblock: {
    usage: '/unblock TASK',
    does: 'let a turn start although the one before it did not complete',
    run: ({ session }, rest) => session.unblock(worded(rest)),
  },
  pauses: {
    usage: '/pauses',
    does: 'what waits for you',
    run: async ({ pauses, output }) => list(output, await pauses.all(), 'Nothing waits for you.'),
  },
  tasks: {
    usage: '/tasks',
    does: 'the turns that have not ended',
    run: async ({ session, output }) => {
      const living = (await session.tasks()).filter(({ state }) => state !== 'terminal')
      return list(
        output,
        living.map(({ id, state, origin }) => `${id} ${state} (${origin})`),
        'No turn works or waits.',
      )
    },
  },
  help: { usage: '/help', does: 'this', run: async ({ output }) => list(output, helpLines(), '') },
  quit: {
    usage: '/quit',
    does: 'leave; what has not ended is found again as it is',
    run: async ({ leave }) => {
      leave()
      return null
    },
  },
}

const aliases: { readonly [name: string]: string } = {
  exit: 'quit',
  q: 'quit',
  '?': 'help',
  ack: 'acknowledge',
  s: 'steer',
}

export function chatCommand(name: string): ChatCommand {
  const found = Object.hasOwn(aliases, name) ? aliases[name] : name
  if (found !== undefined && Object.hasOwn(commands, found) && commands[found] !== undefined) return commands[found]
  throw new LandfallError('USAGE', 'There is no such command. /help lists them; // begins words with a slash.')
}

function helpLines(): readonly string[] {
  const all = Object.values(commands)
  const width = Math.max(...all.map(({ usage }) => usage.length))
  return ['Words without a slash are a turn: now, or behind those that wait.'].concat(
    all.map(({ usage, does }) => `${usage.padEnd(width)}  ${does}`),
  )
}

function list(output: Output, lines: readonly string[], none: string): null {
  if (output.json) output.value({ type: 'list', lines })
  else for (const line of lines.length === 0 ? [none] : lines) output.line(line)
  return null
}

function worded(rest: string): string {
  if (rest === '') throw new LandfallError('USAGE', 'Say what, behind the command. /help lists them.')
  return rest
}
