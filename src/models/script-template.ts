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

const contents = (messages: readonly ModelMessage[], role: ModelMessage['role']): string[] =>
  messages.filter((message) => message.role === role).map((message) => message.content)

/** The values of the placeholders for one request. */
export function placeholders(request: ModelRequest): ReadonlyMap<string, string> {
  const at = inputIndex(request)
  return new Map([
    ['input', request.messages[at]?.content ?? ''],
    ['steering', contents(request.messages.slice(at + 1), 'user').join('\n')],
    ['last', contents(request.messages, 'tool').at(-1) ?? ''],
    ['turn', String(request.turn)],
    ['count:messages', String(request.messages.length)],
  ])
}

/** Replaces `{{name}}` in one pass, so that what is put in is never read again; unknown names stay as they are. */
export function fillText(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{([\w:]+)\}\}/g, (whole, name: string) => values.get(name) ?? whole)
}

/** Replaces in every string of plain data; keys stay. */
export function fillValue(value: Json, values: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return fillText(value, values)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item: Json) => fillValue(item, values))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, values)]))
}
