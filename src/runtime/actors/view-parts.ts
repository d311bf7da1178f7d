import type { FactOf } from '../../../machines/facts.ts'
import type { TaskEnd } from '../../../machines/world.ts'
import type { CommittedEvent } from './projection-logic.ts'

const nowhere = { id: '', seq: 0, step: 0, at: '', task: null, run: null, call: null } as const

/** What a session's context is made from before a fact of it is known. */
export const emptyOpening: FactOf<'session.opened'> = {
  ...nowhere,
  type: 'session.opened',
  data: {
    settings: {
      model: '',
      system: null,
      limits: {},
      budget: null,
      context: { windowTokens: 0, thresholdTokens: 0, tailMessages: 0, reserveTokens: 0 },
    },
  },
}

/** What a task's context is made from before its creation is known. */
export function emptyTask(id: string): FactOf<'task.created'> {
  return {
    ...nowhere,
    type: 'task.created',
    task: id,
    data: { kind: 'foreground', origin: 'start', requires: 'none', watermark: 0, input: '', bytes: 0, request: '' },
  }
}

/** What is told of an end without content: the whole outcome is `task.outcome()`. */
export interface EndView {
  readonly status: TaskEnd['status']
  readonly messageId: string | null
  readonly calls: TaskEnd['calls']
  readonly seq: number
}

export function endView({ status, messageId, calls, seq }: TaskEnd): EndView {
  return { status, messageId, calls, seq }
}

export function plainEvent(type: string, seq: number): CommittedEvent {
  return { type, seq, facts: [] }
}
