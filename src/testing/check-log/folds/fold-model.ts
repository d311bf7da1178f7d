import type { StoredFact, StoredFactOf } from '../../../facts/envelope.ts'
import type { SessionView } from '../session-view.ts'
import type { TaskView } from '../task-view.ts'

function charge(view: SessionView, task: TaskView | undefined, total: number): void {
  view.used += total
  if (task === undefined) return
  task.charged += total
  task.request = null
}

function request(view: SessionView, task: TaskView, fact: StoredFactOf<'model.requested'>): void {
  const { purpose, reserved, step, attempt } = fact.data
  task.request = { purpose, reserved }
  task.accounted = null
  view.step.stopped.delete(task.id)
  if (purpose === 'summary') return
  if (task.position === null || task.position.step !== step) task.stepsBegun += 1
  task.position = { step, attempt, interrupted: false }
  task.summarised = false
  for (const skill of task.skills.values()) skill.carried ??= step
  for (const applied of view.step.applied) if (applied.task === task.id) applied.requested = true
}

function answer(task: TaskView, fact: StoredFactOf<'model.completed'>): void {
  if (task.request?.purpose === 'summary') task.summarised = true
  if (task.request?.purpose !== 'turn') return
  task.answers += 1
  task.everAsked.push(...fact.data.calls.map(({ call }) => call))
  task.asked = fact.data.calls.map(({ call, name }) => ({ call, name }))
  task.tally.asked += fact.data.calls.length
}

/** A message of no task is one of a restored view. */
function restore(view: SessionView, fact: StoredFactOf<'message.added'>): void {
  const { role, toolCalls, forCall } = fact.data
  view.restoring = true
  view.said += 1
  if (role === 'assistant') view.unanswered.push(...(toolCalls ?? []).map(({ call }) => call))
  if (role === 'tool') view.unanswered = view.unanswered.filter((call) => call !== forCall)
}

function say(view: SessionView, task: TaskView, fact: StoredFactOf<'message.added'>): void {
  const { role, message, toolCalls, forCall } = fact.data
  task.said += 1
  if (task.kind === 'foreground') view.said += 1
  if (role === 'assistant') task.unanswered.push(...(toolCalls ?? []).map(({ call }) => call))
  if (role === 'tool') task.unanswered = task.unanswered.filter((call) => call !== forCall)
  if (role !== 'user') return
  const applied = view.step.applied.find((each) => each.task === task.id && each.unsaid[0] === message)
  applied?.unsaid.shift()
}

export function foldModel(view: SessionView, fact: StoredFact): void {
  const task = fact.task === null ? undefined : view.tasks.get(fact.task)
  switch (fact.type) {
    case 'context.accounted': {
      const { purpose, admitted, limit, occupancy, reserve } = fact.data
      if (task === undefined) return
      task.accounted = { purpose, admitted, limit, occupancy, reserve }
      if (!admitted && purpose === 'turn') view.step.stopped.set(task.id, { seq: fact.seq, why: 'was not admitted' })
      return
    }
    case 'model.requested':
      if (task !== undefined) request(view, task, fact)
      return
    case 'model.completed':
      if (task !== undefined) answer(task, fact)
      charge(view, task, fact.data.usage.total)
      return
    case 'model.failed':
      if (task?.request?.purpose === 'summary') task.summarised = true
      charge(view, task, fact.data.usage?.total ?? 0)
      return
    case 'model.abandoned':
      if (task?.position && fact.data.reason === 'interrupted') task.position.interrupted = true
      charge(view, task, fact.data.charged.total)
      return
    case 'message.added':
      if (task !== undefined) say(view, task, fact)
      else if (fact.task === null) restore(view, fact)
      return
    default:
      return
  }
}
