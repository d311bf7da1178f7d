import { isMessage, type MessageRecord, type RollingNote, type ViewEntry } from '../../machines/view.ts'
import type { ModelMessage } from '../facts/ports.ts'

/** A stored body as the message that a model is sent. Assistant messages with calls are stored as JSON of both. */
export function renderMessage(record: MessageRecord, body: string): ModelMessage {
  if (record.toolCalls.length > 0) return renderAnswer(body)
  const { role, forCall } = record
  return Object.freeze(forCall === null ? { role, content: body } : { role, content: body, toolCallId: forCall })
}

export function renderAnswer(body: string): ModelMessage {
  const { content, toolCalls } = JSON.parse(body) as Pick<ModelMessage, 'content' | 'toolCalls'>
  return Object.freeze({ role: 'assistant', content, toolCalls: Object.freeze(toolCalls ?? []) })
}

const quoteChars = 160

/** The beginning of a user message, as a rolling note quotes it once the message is left out. */
export function quoteOf(body: string): string {
  const line = body.replace(/\s+/g, ' ').trim()
  const chars = Array.from(line.slice(0, quoteChars * 2))
  return chars.length > quoteChars ? `${chars.slice(0, quoteChars).join('')}…` : chars.join('')
}

/** The one message that stands for the user messages which were left out. */
export function renderNote(note: RollingNote, quotes: readonly string[]): ModelMessage {
  const lines = quotes.map((quote) => `- ${quote}`)
  const left = note.count === 1 ? 'One earlier message' : `${note.count} earlier messages`
  const content = [`${left} of the user are left out here. The newest of them began:`, ...lines].join('\n')
  return Object.freeze({ role: 'user', content })
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

/** The task whose first user message an entry may be. */
export function inputTaskOf(entry: ViewEntry): string | null {
  return isMessage(entry) && entry.role === 'user' ? entry.task : null
}
