import type { MessageRecord, TaskRecord, World } from '../../machines/world.ts'
import type { ModelMessage } from '../facts/ports.ts'

/**
 * What a task may see of the conversation, a pure function of the log: its own messages; turns that had ended at its watermark
 * whole, with their tool traffic; a turn that ended later only as its user messages and its final user-visible message.
 * A background task sees its own lane alone, and nobody else sees that lane.
 */
export function isVisible(world: World, task: TaskRecord, message: MessageRecord): boolean {
  if (message.task === task.id) return true
  if (task.created.kind === 'background') return false
  const other = world.taskRecords.get(message.task)
  if (other === undefined) return true
  if (other.created.kind === 'background') return false
  if (other.ended !== null && other.ended.seq <= task.created.watermark) return true
  return message.role === 'user' || message.id === other.ended?.messageId
}

/** True when every foreground message so far is visible whole, which is so for every turn that did not wait for another. */
export function seesAll(world: World, task: TaskRecord): boolean {
  return task.created.kind === 'foreground' && world.lastEnd <= task.created.watermark
}

/** A stored body as the message that a model is sent. Assistant messages with calls are stored as JSON of both. */
export function renderMessage(record: MessageRecord, body: string): ModelMessage {
  if (record.toolCalls.length > 0) {
    const { content, toolCalls } = JSON.parse(body) as Pick<ModelMessage, 'content' | 'toolCalls'>
    return Object.freeze({ role: record.role, content, toolCalls: toolCalls ?? [] })
  }
  const { role, forCall } = record
  return Object.freeze(forCall === null ? { role, content: body } : { role, content: body, toolCallId: forCall })
}

/**
 * Every tool call has exactly one result, in order, before anything else is said. Given the calls still open before a message,
 * those open after it; `null` when the message breaks the rule.
 */
export function openCallsAfter(open: readonly string[], message: ModelMessage): readonly string[] | null {
  if (message.role === 'tool') return message.toolCallId === open[0] && open.length > 0 ? open.slice(1) : null
  if (open.length > 0) return null
  return message.toolCalls === undefined ? open : message.toolCalls.map((call) => call.id)
}
