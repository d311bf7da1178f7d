import type { Json } from '../../machines/vocabulary.ts'
import type { ModelMessage, ModelRequest } from '../facts/ports.ts'

/**
 * Where the task's input is among the messages. The runtime says so in `inputAt`; without it the input is taken to be the
 * first of the user messages that stand before the task's own answers.
 */
function inputIndex(request: ModelRequest): number {
  const { messages } = request
  if (request.inputAt !== undefined) return request.inputAt
  let at = messages.length
  for (let answers = 0; answers < request.step && at > 0; ) {
    at -= 1
    if (messages[at]?.role === 'assistant') answers += 1
  }
  while (at > 0 && messages[at - 1]?.role !== 'user') at -= 1
  while (at > 1 && messages[at - 2]?.role === 'user') at -= 1
  return at - 1
}

/** Looks a placeholder up when a text asks for it: a script without any costs nothing, however long the conversation is. */
export type Values = (name: string) => string | undefined

export function placeholders(request: ModelRequest): Values {
  return (name) => {
    const { messages } = request
    switch (name) {
      case 'input':
        return messages[inputIndex(request)]?.content ?? ''
      case 'steering':
        return messages
          .slice(inputIndex(request) + 1)
          .filter((message) => message.role === 'user')
          .map((message) => message.content)
          .join('\n')
      case 'last':
        return newest(messages, 'tool')
      case 'turn':
        return String(request.turn)
      case 'count:messages':
        return String(messages.length)
      default:
        return undefined
    }
  }
}

function newest(messages: readonly ModelMessage[], role: ModelMessage['role']): string {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role === role) return message.content
  }
  return ''
}

/** Replaces `{{name}}` in one pass, so that what is put in is never read again; unknown names stay as they are. */
export function fillText(text: string, values: Values): string {
  return text.replace(/\{\{([\w:]+)\}\}/g, (whole, name: string) => values(name) ?? whole)
}

/** Replaces in every string of plain data; keys stay. */
export function fillValue(value: Json, values: Values): Json {
  if (typeof value === 'string') return fillText(value, values)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item: Json) => fillValue(item, values))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, values)]))
}
