import type { StoredFact } from '../../src/facts/envelope.ts'
import type { SessionState } from '../../src/runtime/state-view.ts'
import type { observe } from '../reference/model.ts'

/** The real session in the words of the reference model. Calls are told by their facts alone, so nothing is taken from a chart. */
export type Observed = ReturnType<typeof observe>

type Name = (id: string) => string

const outcomes: { readonly [type: string]: string } = {
  'call.held': 'held',
  'call.started': 'started',
  'call.cancelled': 'cancelled',
  'call.unknown': 'unknown',
  'call.refused': 'refused',
  'call.interrupted': 'requested',
}

function callsOf(facts: readonly StoredFact[], name: Name): Observed['calls'] {
  const calls: { [call: string]: string } = {}
  for (const fact of facts) {
    if (fact.call === null) continue
    if (fact.type === 'call.requested') calls[name(fact.call)] = 'requested'
    else if (fact.type === 'call.finished') calls[name(fact.call)] = fact.data.outcome
    else if (fact.type in outcomes) calls[name(fact.call)] = outcomes[fact.type] ?? ''
  }
  return calls as Observed['calls']
}

function fateOf(facts: readonly StoredFact[], type: 'steering.applied' | 'steering.expired', name: Name): string[] {
  return facts.flatMap((fact) => (fact.type === type ? fact.data.messages.map(name) : []))
}

const groupStates: { readonly [type: string]: string } = {
  'group.created': 'open',
  'group.sealed': 'sealed',
  'group.resolved': 'resolved',
  'group.cancelled': 'cancelled',
}

function groupsOf(facts: readonly StoredFact[], name: Name): Observed['groups'] {
  const groups: { [group: string]: string } = {}
  for (const { type, data } of facts)
    if (type in groupStates && 'group' in data) groups[name(data.group ?? '')] = groupStates[type] ?? ''
  return groups as Observed['groups']
}

function awaitingOf(facts: readonly StoredFact[], name: Name): string[] {
  const waiting = new Set<string>()
  for (const { type, task } of facts) {
    if (task === null) continue
    if (type === 'task.awaiting') waiting.add(name(task))
    else if (type === 'task.await_settled') waiting.delete(name(task))
  }
  return [...waiting]
}

interface SessionPart {
  readonly value: { readonly lifecycle: Observed['lifecycle'] }
  readonly context: { readonly active: string | null; readonly slot: string | null }
}

function stateOf({ state, status }: SessionState['tasks'][number]): string {
  return status ?? (state === 'quiescing' ? 'cancelling' : state)
}

export function observeSession(state: SessionState, facts: readonly StoredFact[], name: Name): Observed {
  const { value, context } = state.session as SessionPart
  const known = (id: string | null) => (id === null ? null : name(id))
  const asking = state.tasks.filter((task) => (task.context as { request?: unknown } | undefined)?.request != null)
  return {
    lifecycle: value.lifecycle,
    active: known(context.active),
    slot: known(context.slot),
    queue: state.queue.map(name),
    tasks: Object.fromEntries(state.tasks.map((task) => [name(task.id), stateOf(task)])) as Observed['tasks'],
    calls: callsOf(facts, name),
    steering: {
      pending: state.steering.map(name),
      applied: fateOf(facts, 'steering.applied', name),
      expired: fateOf(facts, 'steering.expired', name),
    },
    quarantine: state.quarantined.map(name),
    groups: groupsOf(facts, name),
    awaiting: awaitingOf(facts, name),
    requesting: asking.map(({ id }) => name(id)),
  }
}
