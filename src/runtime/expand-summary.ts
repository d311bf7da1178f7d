import type { AgendaItem } from '../../machines/agenda.ts'
import type { TaskContext } from '../../machines/task-context.ts'
import type { TaskId } from '../../machines/vocabulary.ts'
import { accountFor } from './account-request.ts'
import { needed } from './expand-messages.ts'
import type { Step } from './step.ts'
import { isWorthwhile, prefixOf, summaryDigest, summaryMessages, summaryOccupancy } from './summary-request.ts'

/**
 * Asks the summary model, where there is one and none has answered in this round. Null: no summary is to be had. One that was
 * lost in a crash is asked for again, as often as every other request.
 */
export function askSummary(step: Step, task: TaskId, context: TaskContext): readonly AgendaItem[] | null {
  const { host, world, bodies, key } = step.base
  const { asked, done } = context.summaries
  if (host.summaryModel === null || done || asked >= host.limits.modelAttempts || step.unsummarised.has(task))
    return null
  const prefix = prefixOf(world, task)
  if (!isWorthwhile(prefix)) return null
  const messages = summaryMessages(bodies, prefix)
  const record = needed(world.taskRecords.get(task), 'task record')
  const { accounted, answer, admitted } = accountFor(step, record, {
    purpose: 'summary',
    occupancy: summaryOccupancy(messages),
  })
  if (!admitted) {
    step.unsummarised.add(task)
    return [accounted]
  }
  return [
    accounted,
    {
      type: 'model.requested',
      task,
      data: {
        request: summaryDigest(key, prefix),
        model: host.summaryModel.name,
        purpose: 'summary',
        step: context.step,
        attempt: asked + 1,
        messages: messages.length,
        tools: 0,
        maxOutput: answer.maxOutput,
        reserved: answer.reservation,
        deadline: step.after(host.requestTimeoutMs),
      },
    },
  ]
}
