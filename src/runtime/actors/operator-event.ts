import type { Grant, Json, JsonObject, SteeringFate } from '../../../machines/vocabulary.ts'
import type { Receipt } from '../command.ts'
import type { Input } from '../input.ts'

interface Identified {
  readonly commandId?: string
}

interface Turn extends Identified {
  readonly input: Input
  readonly model?: string
  readonly system?: string
  readonly settings?: JsonObject
  readonly grants?: { readonly [id: string]: Grant }
  readonly skills?: readonly string[]
}

interface Targeted extends Identified {
  readonly task?: string
}

interface End extends Identified {
  readonly cancel?: boolean
  readonly reason?: string
}

type Answer = 'approve' | 'reject' | 'resume' | 'timeout'

/** An operator's command as an event: the names and words of the methods of a session. */
export type OperatorEvent =
  | ({ readonly type: 'start' } & Turn)
  | ({ readonly type: 'followUp'; readonly requires?: 'none' | 'success' } & Turn)
  | ({ readonly type: 'supersede' } & Turn & Targeted)
  | ({ readonly type: 'steer'; readonly input: Input; readonly mode?: 'boundary' | 'interrupt' } & Targeted)
  | ({ readonly type: 'cancel'; readonly reason?: string; readonly steering?: SteeringFate } & Targeted)
  | ({ readonly type: 'pause' } & Targeted)
  | ({ readonly type: 'resume'; readonly token: string; readonly decision: Answer; readonly input?: Json } & Identified)
  | ({ readonly type: 'confirm'; readonly confirmation: string; readonly decision: 'allow' | 'deny' } & Identified)
  | ({ readonly type: 'unblock'; readonly task: string } & Identified)
  | ({ readonly type: 'replace'; readonly task: string } & Turn)
  | ({ readonly type: 'reduceGrant'; readonly task: string; readonly id: string; readonly grant: Grant } & Identified)
  | ({ readonly type: 'acknowledge'; readonly calls: readonly string[] | 'all' } & Identified)
  | ({ readonly type: 'close' } & End)
  | ({ readonly type: 'reopen' } & Identified)
  | ({ readonly type: 'erase' } & End)

type WithoutTask<E> = E extends { readonly task?: string | undefined } ? Omit<E, 'task'> : never

/** What is sent to a task's actor is about that task. */
export type TaskEvent = WithoutTask<Exclude<OperatorEvent, { readonly type: 'supersede' }>>

/** What is sent to a call's actor is about the pause that holds it, or about its unknown outcome. */
export type CallEvent =
  | ({ readonly type: 'confirm'; readonly decision: 'allow' | 'deny' } & Identified)
  | ({ readonly type: 'resume'; readonly decision: Answer; readonly input?: Json } & Identified)
  | ({ readonly type: 'acknowledge' } & Identified)

/** Lets a session's actors go: they stop, and the next one that is asked for begins anew. */
export interface ReleaseEvent {
  readonly type: 'actor.release'
}

/** What became of a command, emitted by the actor that it was sent to: `actor.on('command.refused', …)`. */
export type OperatorNotice =
  | { readonly type: 'command.accepted'; readonly command: string; readonly receipt: Receipt }
  | { readonly type: 'command.refused'; readonly command: string; readonly code: string; readonly error: unknown }

type Named<K extends string> = { readonly [P in K]: (...words: never[]) => Promise<unknown> }
type Commands = Named<OperatorEvent['type']>

/** Carries out commands: a session, as far as this file is concerned. */
export type OperatorPort = Commands

const words: { readonly [N in OperatorEvent['type']]: readonly string[] } = {
  start: ['input'],
  followUp: ['input'],
  supersede: ['input'],
  steer: ['input'],
  cancel: [],
  pause: [],
  resume: ['token'],
  confirm: ['confirmation', 'decision'],
  unblock: ['task'],
  replace: ['task', 'input'],
  reduceGrant: ['task', 'id', 'grant'],
  acknowledge: ['calls'],
  close: [],
  reopen: [],
  erase: [],
}

export function isOperatorEvent(event: { readonly type: string }): event is OperatorEvent {
  return Object.hasOwn(words, event.type)
}

/** Calls the method that the event names: first the words that it takes in order, then the rest as its options. */
export async function operate(port: OperatorPort, event: OperatorEvent): Promise<Receipt> {
  const { type, ...fields } = event as OperatorEvent & { readonly [field: string]: unknown }
  const positional = words[type]
  const given = positional.map((name) => fields[name])
  const options = Object.fromEntries(Object.entries(fields).filter(([name]) => !positional.includes(name)))
  const done = await (port[type] as (...all: unknown[]) => Promise<Receipt | { receipt: Receipt }>)(...given, options)
  return 'receipt' in done ? done.receipt : done
}
