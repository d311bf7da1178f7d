import type { CallContext } from '../../../machines/call.machine.ts'
import type { OperatorCommand, TaskRequest } from '../../../machines/commands.ts'
import type { GroupContext } from '../../../machines/group.machine.ts'
import { acceptedDecisions } from '../../../machines/pause-decisions.ts'
import type { SessionContext } from '../../../machines/session-context.ts'
import type { TaskContext } from '../../../machines/task-context.ts'
import type { Decision, PauseReason, TaskId } from '../../../machines/vocabulary.ts'
import { sampleDigest, sampleSettings } from './sample-fact.ts'

/** A command to click, with words that fit what the chart holds. */
export interface SampleCommand {
  readonly label: string
  readonly command: OperatorCommand
}

const content = { input: sampleDigest, bytes: 12, request: sampleDigest } as const
const request = (task: TaskId): TaskRequest => ({ task, ...content })

function sample(command: OperatorCommand, what?: string): SampleCommand {
  return { label: what === undefined ? command.name : `${command.name} (${what})`, command }
}

/** Every command that a session's own chart hears of. */
export function sessionCommands(context: SessionContext): readonly SampleCommand[] {
  const next = request(`task-${context.turns + Object.keys(context.tasks).length + 1}`)
  const waiting = Object.entries(context.tasks).flatMap(([task, { phase }]) => (phase === 'pending' ? [task] : []))
  const queued = waiting.length > 0 ? waiting : ['task-1']
  return [
    sample({ name: 'start', request: next }),
    sample({ name: 'followUp', request: next, requires: 'none' }),
    sample({ name: 'followUp', request: next, requires: 'success' }, 'requires success'),
    sample({ name: 'supersede', request: next }),
    sample({ name: 'spawn', request: next, propagate: 'isolate' }),
    sample({ name: 'cancel', reason: 'asked for', steering: 'inherit' }, 'the turn'),
    sample({ name: 'cancel', reason: 'asked for', steering: 'expire' }, 'the turn and its steering'),
    ...queued.flatMap((task) => [
      sample({ name: 'cancel', task, reason: 'asked for', steering: 'inherit' }, task),
      sample({ name: 'unblock', task }, task),
    ]),
    sample({ name: 'acknowledge', calls: 'all' }, 'all'),
    ...(context.quarantine.length > 1 ? [acknowledgeFirst(context)] : []),
    sample({ name: 'close', cancel: false }),
    sample({ name: 'close', cancel: true }, 'cancel what runs'),
    sample({ name: 'erase', cancel: false }),
    sample({ name: 'erase', cancel: true }, 'cancel what runs'),
    sample({ name: 'reopen' }),
    sample({
      name: 'restore',
      from: sampleDigest,
      opened: { settings: sampleSettings },
      messages: [],
      rest: null,
    }),
  ]
}

function acknowledgeFirst({ quarantine }: SessionContext): SampleCommand {
  const calls = quarantine.slice(0, 1)
  return sample({ name: 'acknowledge', calls }, calls.join())
}

/** Every command that is about one task. */
export function taskCommands(context: TaskContext): readonly SampleCommand[] {
  const { id: task } = context
  const said = { message: `message-${context.seq}`, digest: sampleDigest, bytes: 8 } as const
  return [
    sample({ name: 'steer', task, ...said, mode: 'boundary' }),
    sample({ name: 'steer', task, ...said, mode: 'interrupt' }, 'interrupts'),
    sample({ name: 'cancel', task, reason: 'asked for', steering: 'inherit' }),
    sample({ name: 'cancel', task, reason: 'asked for', steering: 'expire' }, 'and its steering'),
    sample({ name: 'pause', task, token: 'pause-own' }),
    ...answers(Object.entries(context.pauses)),
    sample({ name: 'unblock', task }),
    sample({ name: 'replace', task, request: content }),
    sample({ name: 'reduceGrant', task, id: 'shop.order', grant: { level: 'inspect', confirm: 'each' } }),
    sample({ name: 'spawn', request: request('task-2'), parent: task, propagate: 'cascade' }, 'below it'),
  ]
}

type Open = readonly (readonly [string, { readonly reason: PauseReason }])[]

/** An answer for each open pause; without one, an answer to none. */
function answers(open: Open): readonly SampleCommand[] {
  if (open.length === 0) return [sample({ name: 'resume', token: 'pause-own', decision: 'resume' })]
  return open.flatMap(([token, { reason }]) => [
    ...(reason === 'approval' ? confirmations(token) : []),
    ...acceptedDecisions[reason].flatMap((decision) =>
      decision === 'withdrawn' ? [] : [answer(token, decision, `${token}, ${decision}`)],
    ),
  ])
}

function answer(token: string, decision: Exclude<Decision, 'withdrawn'>, what: string): SampleCommand {
  return sample({ name: 'resume', token, decision }, what)
}

/** `confirm` of the interfaces: an answer that only a confirmation takes. */
function confirmations(token: string): readonly SampleCommand[] {
  return (['approve', 'reject'] as const).map((decision) => ({
    label: `confirm (${token}, ${decision === 'approve' ? 'allow' : 'deny'})`,
    command: { name: 'resume', confirms: true, token, decision },
  }))
}

/** A call is answered for, and acknowledged. */
export function callCommands({ id, task, token, hold }: CallContext): readonly SampleCommand[] {
  const held = token ?? 'pause-1'
  return [
    ...confirmations(held),
    ...(hold === null || hold === 'quarantine'
      ? [answer(held, 'resume', `${held}, resume`)]
      : answers([[held, { reason: hold }]]).filter(({ label }) => label.startsWith('resume'))),
    sample({ name: 'acknowledge', calls: [id] }),
    sample({ name: 'cancel', task, reason: 'asked for', steering: 'inherit' }, 'its task'),
  ]
}

export function groupCommands({ id, members }: GroupContext): readonly SampleCommand[] {
  const next = request(`task-${members.length + 1}`)
  return [
    sample({ name: 'spawn', request: next, propagate: 'isolate', group: id }, 'into it'),
    sample({ name: 'sealGroup', group: id }),
    sample({ name: 'cancelGroup', group: id }),
    sample({ name: 'createGroup', group: id, failFast: true }, 'once more'),
  ]
}
