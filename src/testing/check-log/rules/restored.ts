import type { Judged, Rule } from '../rule.ts'

/** What may stand beside the view's messages until `session.restored` is committed: who owns it, and the command itself. */
const allowed =
  /^(session\.(opened|owned|restored)|message\.added|command\.accepted|settings\.changed|context\.\w+|audit\.\w+)$/

/** INV-02: the view's messages precede `session.restored`, and until it is committed nothing but `restore` is accepted (page 6). */
function order({ view, fact, report }: Judged): void {
  if (fact.type === 'session.restored') {
    if (view.restored) report('INV-02', 'a session is restored twice')
    if (view.unanswered.length > 0) report('INV-13', 'a restored view has a tool call without a result')
  } else if (view.restoring && !allowed.test(fact.type)) {
    report('INV-02', `${fact.type} before the session is restored`)
  }
  if (fact.type !== 'message.added' || fact.task !== null) return
  if (view.restored || view.tasks.size + view.ended.size > 0)
    report('INV-02', 'a message of no task in a session under way')
}

/** INV-13: in a restored view each tool call has one result, in order. */
function results({ view, fact, report }: Judged): void {
  if (fact.type !== 'message.added' || fact.task !== null) return
  if (fact.data.role === 'tool' && view.unanswered[0] !== fact.data.forCall) {
    report('INV-13', 'a restored result out of call order')
  }
  if (fact.data.role === 'assistant' && (fact.data.toolCalls ?? []).length > 0 && view.unanswered.length > 0) {
    report('INV-13', 'a restored answer over calls without results')
  }
}

export const restoredRule: Rule = {
  fact(judged) {
    order(judged)
    results(judged)
  },
}
