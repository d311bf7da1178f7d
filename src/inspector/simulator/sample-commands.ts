import type { CallContext } from '../../../machines/call.machine.ts'
import type { GroupContext } from '../../../machines/group.machine.ts'
import { acceptedDecisions } from '../../../machines/pause-decisions.ts'
import type { SessionContext } from '../../../machines/session-context.ts'
import type { TaskContext } from '../../../machines/task-context.ts'
import type { Decision, PauseReason, PauseToken } from '../../../machines/vocabulary.ts'
import type { CommandBody, CommandName } from '../../runtime/command-bodies.ts'

/** A command to click, as it is sent to a session, with words that fit what the chart holds. */
export interface SampleCommand {
  readonly label: string
  readonly command: { readonly name: CommandName }
}

function sample<N extends CommandName>(name: N, body: CommandBody<N>, what?: string): SampleCommand {
  return { label: what === undefined ? name : `${name} (${what})`, command: { name, ...body } }
}

const input = 'What is on the shelf?'
const ended = { reason: 'asked for', steering: 'inherit' } as const

/** Every command that a session's own chart hears of. */
export function sessionCommands(context: SessionContext): readonly SampleCommand[] {
  const waiting = Object.entries(context.tasks).flatMap(([task, { phase }]) => (phase === 'pending' ? [task] : []))
  const queued = waiting.length > 0 ? waiting : ['task-1']
  return [
    sample('start', { input }),
    sample('followUp', { input, requires: 'none' }),
    sample('followUp', { input, requires: 'success' }, 'requires success'),
    sample('supersede', { input }),
    sample('spawn', { input, propagate: 'isolate' }),
    sample('cancel', ended, 'the turn'),
    sample('cancel', { ...ended, steering: 'expire' }, 'the turn and its steering'),
    ...queued.flatMap((task) => [sample('cancel', { task, ...ended }, task), sample('unblock', { task }, task)]),
    sample('acknowledge', { calls: 'all' }, 'all'),
    ...(context.quarantine.length > 1 ? [acknowledgeFirst(context)] : []),
    sample('close', { cancel: false }),
    sample('close', { cancel: true }, 'cancel what runs'),
    sample('erase', { cancel: false }),
    sample('erase', { cancel: true }, 'cancel what runs'),
    sample('reopen', {}),
  ]
}

function acknowledgeFirst({ quarantine }: SessionContext): SampleCommand {
  const calls = quarantine.slice(0, 1)
  return sample('acknowledge', { calls }, calls.join())
}

/** Every command that is about one task. */
export function taskCommands({ id: task, pauses }: TaskContext): readonly SampleCommand[] {
  return [
    sample('steer', { task, input: 'The upper one.', mode: 'boundary' }),
    sample('steer', { task, input: 'The upper one.', mode: 'interrupt' }, 'interrupts'),
    sample('cancel', { task, ...ended }),
    sample('cancel', { task, ...ended, steering: 'expire' }, 'and its steering'),
    sample('pause', { task }),
    ...answers(Object.entries(pauses)),
    sample('unblock', { task }),
    sample('replace', { task, input: 'What is in the drawer?' }),
    sample('reduceGrant', { task, id: 'tool:shop.order', grant: { level: 'inspect', confirm: 'each' } }),
    sample('spawn', { input, parent: task, propagate: 'cascade' }, 'below it'),
  ]
}

interface Open {
  readonly reason: PauseReason
  readonly call: string | null
}

/** An answer for each open pause; without one, an answer to none. */
function answers(open: readonly (readonly [PauseToken, Open])[]): readonly SampleCommand[] {
  if (open.length === 0) return [sample('resume', { token: 'pause-own', decision: 'resume' })]
  return open.flatMap(([token, pause]) => [
    ...(pause.reason === 'approval' ? confirmations(token, pause) : []),
    ...acceptedDecisions[pause.reason].flatMap((decision) =>
      decision === 'withdrawn' ? [] : [answer(token, decision, pause)],
    ),
  ])
}

function answer(token: PauseToken, decision: Exclude<Decision, 'withdrawn'>, { reason, call }: Open): SampleCommand {
  return sample('resume', { token, decision }, `${reason}${call === null ? '' : ` of ${call}`}, ${decision}`)
}

/** `confirm` of the interfaces: an answer that only a confirmation takes. */
function confirmations(token: PauseToken, { call }: Open): readonly SampleCommand[] {
  return (['approve', 'reject'] as const).map((decision) => ({
    ...sample('resume', { token, decision, confirms: true }),
    label: `confirm (${call ?? token}, ${decision === 'approve' ? 'allow' : 'deny'})`,
  }))
}

/** A call is answered for, and acknowledged. */
export function callCommands({ id, task, token, hold }: CallContext): readonly SampleCommand[] {
  const held = token ?? 'pause-1'
  const pause = { reason: hold === null || hold === 'quarantine' ? ('approval' as const) : hold, call: id }
  return [
    ...answers([[held, pause]]),
    ...(pause.reason === 'approval' ? [] : confirmations(held, pause)),
    sample('acknowledge', { calls: [id] }),
    sample('cancel', { task, ...ended }, 'its task'),
  ]
}

export function groupCommands({ id }: GroupContext): readonly SampleCommand[] {
  return [
    sample('spawn', { input, propagate: 'isolate', group: id }, 'into it'),
    sample('sealGroup', { group: id }),
    sample('cancelGroup', { group: id }),
    sample('createGroup', { failFast: true }, 'another one'),
  ]
}
