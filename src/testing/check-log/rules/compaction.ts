import { laneOf, warningKey } from '../folds/fold-context.ts'
import { callsInFlight } from '../questions.ts'
import type { Judged, Rule } from '../rule.ts'

/** The boundary is the only place where compaction is decided (page 2, Task lifecycle): nothing is in flight there. */
function boundary({ fact, task, report }: Judged): void {
  if (fact.type !== 'context.compacted' && fact.type !== 'context.checkpoint') return
  if (task === undefined) return
  if (task.state !== 'running') report('INV-13', `${fact.type} of a task that is ${task.state}`)
  if (task.request !== null || callsInFlight(task).length > 0)
    report('INV-13', `${fact.type} while something is in flight`)
  if (task.unanswered.length > 0) report('INV-13', `${fact.type} separates a call from its result`)
}

/** `context.checkpoint`, then `context.compacted` (page 3, Compaction); the standing summary grows a version at a time. */
function checkpoints({ view, fact, task, report }: Judged): void {
  const lane = laneOf(task)
  if (fact.type === 'context.checkpoint') {
    const last = view.summaries.get(lane)
    if (last !== undefined && fact.data.version <= last)
      report('INV-15', `summary ${fact.data.version} follows ${last}`)
  }
  if (fact.type !== 'context.compacted') return
  const checkpoint = view.step.checkpoints.get(lane)
  if (checkpoint !== undefined && checkpoint.tailStart !== fact.data.tailStart) {
    report('INV-15', 'a new view begins elsewhere than its summary says')
  }
  const { observed, dropped, messagesAfter, messagesBefore } = fact.data
  if (observed === 0 && dropped === 0) report('INV-15', 'a compaction that changes nothing')
  if (messagesAfter > messagesBefore) report('INV-15', 'a new view has more messages')
}

/** INV-23: summarise, once a round (page 3, Compaction). One that was lost in a crash is asked again. */
function summaries({ fact, task, report }: Judged): void {
  if (fact.type !== 'model.requested' || fact.data.purpose !== 'summary' || task === undefined) return
  if (task.summarised) report('INV-23', 'a second summary in one round')
}

/** Warnings at 50 and 90 % (page 3, Occupancy is not the budget), each once. */
function warnings({ view, fact, report }: Judged): void {
  if (fact.type !== 'budget.warning') return
  const { used, limit, percent } = fact.data
  if (percent !== 50 && percent !== 90) report('INV-15', `a warning at ${percent} %`)
  if (used * 100 < limit * (percent ?? 0)) report('INV-15', 'a warning before its time')
  if (view.warned.has(warningKey(fact))) report('INV-15', 'a warning is given twice')
}

/** An exploration ends with a conclusion; an action rests on at least one completed exploration; one open at a time (page 3). */
function episodes({ view, fact, task, report }: Judged): void {
  if (fact.type === 'episode.started') {
    const { kind, basedOn } = fact.data
    if (task?.episode) report('INV-13', 'an episode begins while another is open')
    const base = basedOn ?? []
    if (kind === 'action' && base.length === 0) report('INV-13', 'an action rests on no exploration')
    if (base.some((id) => !view.explorations.has(id)))
      report('INV-13', 'an episode rests on what is no completed exploration')
  }
  if (fact.type !== 'episode.ended') return
  const { episode, kind, conclusion } = fact.data
  if (task?.episode?.id !== episode || task.episode.kind !== kind)
    report('INV-13', 'an episode ends that is not the open one')
  if (kind === 'exploration' && conclusion === undefined) report('INV-13', 'an exploration ends without a conclusion')
}

export const compactionRule: Rule = {
  fact(judged) {
    boundary(judged)
    checkpoints(judged)
    summaries(judged)
    warnings(judged)
    episodes(judged)
  },
  stepEnd(view, report) {
    for (const { seq } of view.step.checkpoints.values())
      report('INV-15', seq, 'a summary stands without the view it is for')
    // Still over the window, or over the budget: the terminal is `failed` (page 3).
    for (const [id, { seq, why }] of view.step.stopped) {
      const task = view.tasks.get(id)
      if (task?.state === 'running' || task?.state === 'paused')
        report('INV-15', seq, `a request ${why}, and the task goes on`)
    }
  },
}
