import type { FactData } from '../../machines/facts.ts'
import type { ModelRequest } from '../facts/ports.ts'
import type { TaskDesk } from './task-desk.ts'

/** What a model is asked: plain frozen data, a pure function of the task's desk and of the fact that announces it. */
export function requestOf(
  desk: TaskDesk,
  requested: Pick<FactData['model.requested'], 'maxOutput' | 'purpose' | 'step'>,
  started: FactData['task.started'],
  turn: number,
): ModelRequest {
  const inputAt = desk.view.inputAt.get(desk.task)
  return Object.freeze({
    system: desk.system,
    messages: desk.view.take(),
    tools: desk.offer.tools,
    maxOutput: requested.maxOutput,
    settings: started.settings,
    purpose: requested.purpose,
    turn,
    step: requested.step,
    ...(inputAt === undefined ? {} : { inputAt }),
  })
}
