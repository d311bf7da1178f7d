import type { AgendaItem } from '../../machines/agenda.ts'
import { summaryOf } from '../../machines/compaction.ts'
import { viewOf } from '../../machines/message-reducers.ts'
import type { ViewEntry } from '../../machines/view.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import { occupancyOfMessage } from '../context/occupancy.ts'
import { nextVersion, planSummary, throughRevision } from '../context/summary.ts'
import { renderEntry } from './lane.ts'
import type { Step } from './step.ts'
import { prefixOf } from './summary-request.ts'

/** The summary that this step has brought, in the place of what it tells of; null when the view would not get smaller by it. */
export function takeSummary(step: Step, task: TaskId): readonly AgendaItem[] | null {
  const text = step.takeSummary(task)
  if (text === null) return null
  const { world, bodies, head } = step.base
  const { entries } = viewOf(world, task)
  const { entries: prefix, tailStart } = prefixOf(world, task)
  const { digest } = step.put(text)
  const version = nextVersion(entries)
  bodies.summaries.set(digest, text)
  const summary = summaryOf(entries, { digest, step: head.step + 1, version, tailStart })
  const sizeOf = (entry: ViewEntry) => occupancyOfMessage(renderEntry(bodies, entry))
  const data = planSummary(entries, { summary, tailStart }, sizeOf)
  if (data === null) return null
  const checkpoint = { version, summary: digest, tailStart, throughRevision: throughRevision(prefix) }
  return [
    { type: 'context.checkpoint', task, data: checkpoint },
    { type: 'context.compacted', task, data },
  ]
}
