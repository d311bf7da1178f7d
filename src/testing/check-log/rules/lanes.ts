/**
 * What a background task sees and who sees its result (page 2, Background tasks).
 *
 * Where the pages leave room: a background task without a parent may be offered; one that was cancelled may go without being
 * offered, and so may one whose result somebody awaited. The number of messages in a request shows that lanes were mixed only
 * when there are more than its own lane has, with one summary message besides.
 */
import type { Judged, Rule } from '../rule.ts'

/** INV-02: a background task that ends after its parent is offered to the next turn, once. */
function offers({ view, fact, task, report }: Judged): void {
  if (fact.type !== 'result.offered') return
  const { from } = fact.data
  const ended = view.ended.get(from)
  if (ended === undefined) {
    report('INV-02', 'a result is offered of a task that has not ended')
    return
  }
  if (view.offered.has(from)) report('INV-02', 'a result is offered twice')
  if (ended.kind !== 'background') report('INV-02', 'the result of a turn is offered')
  else if (!ended.afterParent) report('INV-02', 'a result is offered of a task that ended before its parent')
  if (task === undefined) return
  if (task.kind !== 'foreground') report('INV-02', 'a result is offered to a task that is no turn')
  else if (task.state !== 'pending' && task.startedSeq < ended.seq) {
    report('INV-02', 'a result is offered to a turn that had begun when its task ended')
  }
}

/** INV-13: a background task sees its input only, and its messages never enter the session's conversation. */
function messages({ view, fact, task, report }: Judged): void {
  if (task === undefined) return
  if (fact.type === 'task.started' && task.kind === 'background' && fact.data.handoff !== undefined) {
    report('INV-13', 'a background task is told of turns before it')
  }
  if (fact.type !== 'model.requested') return
  const own = task.kind === 'background' ? task.said : view.said + view.offered.size
  if (fact.data.messages > own + 1) report('INV-13', 'a request has more messages than its lane')
}

export const lanesRule: Rule = {
  fact(judged) {
    offers(judged)
    messages(judged)
  },
  stepEnd(view, report) {
    for (const { task, seq, due } of view.step.turns) {
      if (!view.tasks.has(task)) continue
      for (const id of due)
        if (view.unoffered.has(id)) report('INV-02', seq, `the result of ${id} is not offered to this turn`)
    }
  },
}
