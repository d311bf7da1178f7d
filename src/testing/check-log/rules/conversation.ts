import { terminalStatus } from '../folds/fold-task.ts'
import type { Judged, Rule } from '../rule.ts'

/** INV-13: the tool calls of an answer are those that `model.completed` told of, each asked for once. */
function asked({ fact, task, report }: Judged): void {
  if (fact.type !== 'message.added' || fact.data.role !== 'assistant' || task === undefined) return
  const calls = fact.data.toolCalls ?? []
  if (calls.length === 0) return
  const known = task.asked ?? []
  const same =
    calls.length === known.length &&
    calls.every((each, index) => each.call === known[index]?.call && each.name === known[index]?.name)
  if (!same) report('INV-13', 'the tool calls of the message are not those of the answer')
  if (task.unanswered.length > 0) report('INV-13', 'an answer is added while earlier calls have no result')
}

/** INV-13: results enter in call order, one each, once the call is settled (page 2, Calls). */
function answered({ fact, task, report }: Judged): void {
  if (fact.type !== 'message.added' || fact.data.role !== 'tool' || task === undefined) return
  const { forCall } = fact.data
  if (forCall === undefined || !task.unanswered.includes(forCall)) {
    report('INV-13', 'a tool message for a call that awaits no result')
  } else if (task.unanswered[0] !== forCall) {
    report('INV-13', 'a tool message out of call order')
  }
  const call = task.calls.get(forCall ?? '')
  if (call !== undefined && call.state !== 'settled') report('INV-13', `a result of a call that is ${call.state}`)
}

/** INV-13: the whole batch settles before the next boundary; no call stays without a result (page 2, Calls and barrier 8). */
function complete({ fact, task, report }: Judged): void {
  if (task === undefined) return
  if (fact.type !== 'model.requested' && terminalStatus(fact.type) === undefined) return
  if (task.unanswered.length > 0) report('INV-13', `${fact.type} while ${task.unanswered.length} calls have no result`)
  if (fact.type === 'model.requested' && [...task.calls.values()].some((call) => call.state !== 'settled')) {
    report('INV-13', 'a request before the whole batch is settled')
  }
}

export const conversationRule: Rule = {
  fact(judged) {
    asked(judged)
    answered(judged)
    complete(judged)
  },
}
