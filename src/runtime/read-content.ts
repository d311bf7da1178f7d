import type { FactOf } from '../../machines/facts.ts'
import type { CallId, Effect, TaskId } from '../../machines/vocabulary.ts'
import type { StoredFact } from '../facts/envelope.ts'
import type { Log } from '../facts/log-port.ts'
import type { ModelMessage, Redactor } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { factsOf } from './read-facts.ts'

export interface MessageView {
  readonly id: string
  readonly seq: number
  readonly task: TaskId
  readonly role: ModelMessage['role']
  readonly content: string
  readonly toolCalls?: NonNullable<ModelMessage['toolCalls']>
  readonly toolCallId?: CallId
  readonly synthetic?: true
}

export interface CallEntryView {
  readonly id: CallId
  readonly task: TaskId
  readonly name: string
  readonly effect: Effect | null
  readonly state: string
  readonly outcome?: string
  /** Of the fact that asked for it. */
  readonly seq: number
  /** Redacted; null after an erase. */
  readonly arguments: unknown
}

type MessageFact = StoredFact & FactOf<'message.added'>

export async function messagesOf(
  log: Log,
  scope: Scope,
  page: { after?: number; limit?: number },
): Promise<readonly MessageView[]> {
  const { after = 0, limit = Number.POSITIVE_INFINITY } = page
  const facts: MessageFact[] = []
  for await (const fact of factsOf(log, scope, after)) {
    if (facts.length >= limit) break
    if (fact.type === 'message.added') facts.push(fact)
  }
  const refs = facts.map((fact) => ({ digest: fact.data.digest, step: fact.step }))
  const bodies = await log.content(scope, refs)
  return facts.flatMap((fact, index) => {
    const body = bodies[index]
    return body == null ? [] : [messageView(fact, body)]
  })
}

function messageView(fact: MessageFact, body: string): MessageView {
  const { message, role, toolCalls, forCall, synthetic } = fact.data
  const asked =
    toolCalls === undefined ? { content: body } : (JSON.parse(body) as Pick<ModelMessage, 'content' | 'toolCalls'>)
  return {
    id: message,
    seq: fact.seq,
    task: fact.task ?? '',
    role,
    content: asked.content,
    ...(asked.toolCalls === undefined ? {} : { toolCalls: asked.toolCalls }),
    ...(forCall === undefined ? {} : { toolCallId: forCall }),
    ...(synthetic === undefined ? {} : { synthetic }),
  }
}

const outcomes: { readonly [type: string]: string } = {
  'call.refused': 'refused',
  'call.cancelled': 'cancelled',
  'call.unknown': 'unknown',
}
const phases: { readonly [type: string]: string } = {
  'call.held': 'held',
  'call.started': 'started',
  'call.aborting': 'aborting',
  'call.verifying': 'verifying',
  'call.interrupted': 'requested',
}

interface CallFound {
  readonly requested: StoredFact & FactOf<'call.requested'>
  state: string
  outcome?: string
}

/** Calls of a session in the order in which they were asked for, each with its newest state. */
export async function callsOf(
  host: { log: Log; redactor: Redactor },
  scope: Scope,
  task: string | undefined,
): Promise<readonly CallEntryView[]> {
  const found = new Map<CallId, CallFound>()
  for await (const fact of factsOf(host.log, scope)) {
    if (fact.call === null || (task !== undefined && fact.task !== task)) continue
    if (fact.type === 'call.requested') found.set(fact.call, { requested: fact, state: 'requested' })
    else follow(found.get(fact.call), fact)
  }
  const calls = [...found.values()]
  const refs = calls.map(({ requested }) => ({ digest: requested.data.arguments, step: requested.step }))
  const bodies = await host.log.content(scope, refs)
  return calls.map((call, index) => callView(call, bodies[index] ?? null, host.redactor))
}

function follow(call: CallFound | undefined, fact: StoredFact): void {
  if (call === undefined) return
  const outcome = fact.type === 'call.finished' ? fact.data.outcome : outcomes[fact.type]
  if (outcome === undefined) call.state = phases[fact.type] ?? call.state
  else {
    call.state = outcome
    call.outcome = outcome
  }
}

function callView(call: CallFound, body: string | null, redactor: Redactor): CallEntryView {
  const { requested, state, outcome } = call
  return {
    id: requested.call ?? '',
    task: requested.task ?? '',
    name: requested.data.name,
    effect: requested.data.effect ?? null,
    state,
    ...(outcome === undefined ? {} : { outcome }),
    seq: requested.seq,
    arguments: body === null ? null : redacted(redactor, JSON.parse(body)),
  }
}

function redacted(redactor: Redactor, value: unknown): unknown {
  try {
    return redactor.value(value)
  } catch {
    return '[withheld]'
  }
}
