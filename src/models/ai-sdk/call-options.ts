import type { JsonObject } from '../../../machines/vocabulary.ts'
import { ModelError, type ModelMessage, type ModelRequest } from '../../facts/ports.ts'
import type { ToolAliases } from '../tool-aliases.ts'
import { isRecord, type PromptMessage, type TextPart, type ToolCallPart } from './language-model.ts'

/** What stands in a user message for a note of the system: many providers take system text at the beginning alone. */
const noteMark = 'Note of the system:'

/** The conversation as a provider is told it: a copy, with the provider's names of tools. */
export function promptOf({ system, messages }: ModelRequest, aliases: ToolAliases): readonly PromptMessage[] {
  const prompt: PromptMessage[] = system === '' ? [] : [{ role: 'system', content: system }]
  const names = new Map<string, string>()
  let begun = false
  for (const message of messages) {
    if (message.role !== 'system') begun = true
    for (const { id, name } of message.toolCalls ?? []) names.set(id, aliases.aliasOf(name))
    const told = begun && message.role === 'system' ? asNote(message.content) : toldOf(message, names)
    if (told !== null) prompt.push(told)
  }
  return prompt
}

const text = (content: string): TextPart => ({ type: 'text', text: content })

function asNote(content: string): PromptMessage {
  return { role: 'user', content: [text(`${noteMark}\n${content}`)] }
}

/** Null for an answer that said nothing: some providers refuse a message without content. */
function toldOf(message: ModelMessage, names: ReadonlyMap<string, string>): PromptMessage | null {
  const { role, content } = message
  if (role === 'system') return { role, content }
  if (role === 'user') return { role, content: [text(content)] }
  if (role === 'tool') {
    const toolCallId = message.toolCallId ?? ''
    const toolName = names.get(toolCallId) ?? ''
    return { role, content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: content } }] }
  }
  const calls = (message.toolCalls ?? []).map(
    ({ id, arguments: input }): ToolCallPart => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: names.get(id) ?? '',
      input,
    }),
  )
  const parts = [...(content === '' ? [] : [text(content)]), ...calls]
  return parts.length === 0 ? null : { role, content: parts }
}

const isFiniteNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string')

/** Settings of a session that a language model has a word for. */
const known: Readonly<Record<string, (value: unknown) => boolean>> = {
  temperature: isFiniteNumber,
  topP: isFiniteNumber,
  topK: isFiniteNumber,
  presencePenalty: isFiniteNumber,
  frequencyPenalty: isFiniteNumber,
  seed: (value) => Number.isSafeInteger(value),
  stopSequences: isTexts,
  providerOptions: (value) => isRecord(value) && Object.values(value).every(isRecord),
}

/** An unknown setting is refused and not left out: somebody asked for it. `maxOutput` is in the request already. */
export function settingsOf({ maxOutput: _asked, ...settings }: JsonObject): Readonly<Record<string, unknown>> {
  for (const [name, value] of Object.entries(settings)) {
    const fits = Object.hasOwn(known, name) ? known[name] : undefined
    if (fits?.(value) === true) continue
    const what = fits === undefined ? 'is not known; known are maxOutput' : 'has a value of the wrong kind; known are'
    const reason = `The setting '${name}' ${what}, ${Object.keys(known).join(', ')}.`
    throw new ModelError({ code: 'MODEL_SETTING_INVALID', retryable: false, reason })
  }
  return settings
}
