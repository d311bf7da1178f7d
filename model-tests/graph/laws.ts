import type { Fact, FactType } from '../../machines/facts.ts'
import type { GroupContext } from '../../machines/group.machine.ts'
import type { SessionContext } from '../../machines/session-context.ts'
import type { TaskContext } from '../../machines/task-context.ts'
import type { Visit } from './walk.ts'

/**
 * What a chart must refuse by itself, said without its guards. The runtime drafts no such fact as long as it makes no mistake,
 * so nothing else would tell that a guard has gone.
 */
type Law = (fact: Fact, visit: Visit) => string | null

const terminals: ReadonlySet<FactType> = new Set(['task.completed', 'task.failed', 'task.cancelled', 'task.superseded'])
const startsWork: ReadonlySet<FactType> = new Set(['call.started', 'model.requested', 'task.started', 'task.resumed'])
const flying: ReadonlySet<string> = new Set(['started', 'aborting', 'verifying'])

const taskLaws: readonly Law[] = [
  (fact, { before: { context } }) => {
    const { answered, steering, id }: TaskContext = context
    if (fact.type !== 'task.completed' || fact.task !== id) return null
    return answered && steering.length === 0 ? null : 'completed without a final answer, or over pending steering'
  },
  (fact, { before: { context } }) => {
    const { id, calls, descendants }: TaskContext = context
    if (!terminals.has(fact.type) || fact.task !== id || fact.type === 'task.completed') return null
    const lives = Object.values(calls).some(({ phase }) => flying.has(phase)) || Object.keys(descendants).length > 0
    return lives ? 'ended while a call or a descendant lives' : null
  },
  (fact, { before }) => {
    const ending = before.matches('cancelling') || before.matches('quiescing')
    return ending && startsWork.has(fact.type) ? 'something started behind the barrier' : null
  },
  (fact, { before }) => {
    const { id, barrier }: TaskContext = before.context
    if (!before.matches('quiescing') || !terminals.has(fact.type) || fact.task !== id) return null
    return fact.type === `task.${barrier?.status}` ? null : 'a barrier ended as something else'
  },
  (_, { before }) => (before.status === 'done' || before.matches('terminal') ? 'a fact after the end' : null),
  (fact, { before }) =>
    before.matches('paused') && (fact.type === 'call.started' || fact.type === 'model.requested')
      ? 'a paused task started something'
      : null,
  (fact, { before: { context } }) => {
    const { pauses }: TaskContext = context
    return fact.type === 'pause.settled' && !(fact.data.token in pauses) ? 'a pause settled that is not open' : null
  },
]

const sessionLaws: readonly Law[] = [
  (fact, { before: { context } }) => {
    const { active, tasks, closing }: SessionContext = context
    if (fact.type !== 'task.started') return null
    if (closing !== null) return 'a start while the session closes'
    return active !== null && tasks[fact.task ?? '']?.kind === 'foreground' ? 'two turns at once' : null
  },
  (fact, { before: { context } }) => {
    const { tasks }: SessionContext = context
    return fact.type === 'session.erased' && Object.keys(tasks).length > 0 ? 'erased with tasks' : null
  },
  (fact, { before: { context } }) => {
    const { tasks }: SessionContext = context
    const busy = Object.values(tasks).some(({ phase }) => phase !== 'pending')
    return fact.type === 'session.closed' && busy ? 'closed with a started task' : null
  },
  (fact, { before: { context } }) => {
    const { tasks }: SessionContext = context
    if (fact.type !== 'task.created' || fact.data.parent === undefined) return null
    return tasks[fact.data.parent]?.phase === 'started' ? null : 'a child of what is not at work'
  },
  (fact, { before }) =>
    fact.type === 'task.created' && !before.matches({ lifecycle: 'open' })
      ? 'a task in a session that is not open'
      : null,
  (fact, { before: { context } }) => {
    const { epoch }: SessionContext = context
    return fact.type === 'session.owned' && fact.data.epoch <= epoch ? 'an epoch that does not grow' : null
  },
  (fact, { before: { context } }) => {
    const { quarantine }: SessionContext = context
    if (fact.type !== 'mutation.acknowledged') return null
    const known = fact.data.calls.length > 0 && fact.data.calls.every((call) => quarantine.includes(call))
    return known ? null : 'acknowledged what is not quarantined'
  },
]

const callLaws: readonly Law[] = [
  (fact, { before: { context } }) =>
    fact.type === 'call.started' && fact.data.attempt !== context.attempts + 1 ? 'an attempt out of turn' : null,
  (fact, { before: { context } }) =>
    fact.type === 'call.started' && context.effect === null ? 'a call of an unknown tool started' : null,
  (fact, { before: { context } }) =>
    fact.type === 'call.interrupted' && context.effect === 'mutate' ? 'a change would be repeated' : null,
  (fact, { before }) => (before.status === 'done' ? `${fact.type} after the outcome` : null),
  (fact, { before }) =>
    before.matches('unknown') && fact.type !== 'call.late' ? 'an unknown outcome was changed afterwards' : null,
]

const groupLaws: readonly Law[] = [
  (fact, { before: { context } }) => {
    const { living }: GroupContext = context
    return fact.type === 'group.resolved' && Object.keys(living).length > 0 ? 'resolved while a member lives' : null
  },
  (fact, { before }) =>
    fact.type === 'task.created' && !before.matches('open') ? 'a member of a group that takes none' : null,
  (fact, { before }) =>
    fact.type === 'group.resolved' && !before.matches('sealed') ? 'a group resolved that is not sealed' : null,
]

const laws: Readonly<Record<string, readonly Law[]>> = {
  session: sessionLaws,
  task: taskLaws,
  call: callLaws,
  group: groupLaws,
}

/** Laws that an accepted fact breaks. */
export function brokenLaws(visit: Visit): readonly string[] {
  if (visit.seen.next === visit.before) return []
  return (laws[visit.chart.machine.id] ?? []).flatMap((law) => law(visit.fact, visit) ?? [])
}
