import type { AgendaItem } from '../../machines/agenda.ts'
import type { CallId, MessageId, TaskId } from '../../machines/vocabulary.ts'
import { quoteOf } from '../context/conversation.ts'
import { LandfallError } from '../facts/errors.ts'
import type { ModelMessage } from '../facts/ports.ts'
import type { Step } from './step.ts'

interface MessageOf {
  readonly task: TaskId
  readonly role: ModelMessage['role']
  readonly forCall?: CallId
  /** An applied steer keeps the id that it was queued under. */
  readonly message?: MessageId
  readonly synthetic?: true
}

/** A `message.added` whose body is a plain text; its content goes with the step and its rendering into memory. */
export function added(step: Step, of: MessageOf, text: string): AgendaItem {
  const { task, role, forCall, synthetic } = of
  const message = of.message ?? step.newId()
  const rendered: ModelMessage = { role, content: text, ...(forCall === undefined ? {} : { toolCallId: forCall }) }
  const { digest, bytes } = step.put(text)
  step.base.bodies.messages.set(message, Object.freeze(rendered))
  if (role === 'user') step.base.bodies.quotes.set(digest, quoteOf(text))
  const data = {
    message,
    role,
    digest,
    bytes,
    ...(forCall === undefined ? {} : { forCall }),
    ...(synthetic === undefined ? {} : { synthetic }),
  }
  return { type: 'message.added', task, data }
}

/** What the fold says must be there. Its absence is our fault, and loud. */
export function needed<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null)
    throw new LandfallError('INTERNAL', `The live session has no ${what}. Report this as a bug.`)
  return value
}
