import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelLike } from '../../../src/models/ai-sdk/language-model.ts'

export interface WireCall {
  readonly name: string
  /** Pieces of the JSON of the arguments, as they are sent. */
  readonly pieces: readonly string[]
}

export interface WireAnswer {
  readonly text?: readonly string[]
  readonly calls?: readonly WireCall[]
  readonly finish?: string | null
  /** In the words of the provider; null leaves it out. */
  readonly usage?: object | null
}

export interface Wire {
  readonly name: string
  model(url: string): LanguageModelLike
  body(answer: WireAnswer): string
  readonly finishes: { readonly stop: string; readonly calls: string; readonly length: string; readonly filter: string }
  toolNames(body: Readonly<Record<string, unknown>>): readonly string[]
  /** Names of tools in the earlier answers of the conversation. */
  calledNames(body: Readonly<Record<string, unknown>>): readonly string[]
}

const data = (event: object): string => `data: ${JSON.stringify(event)}\n\n`
const named = (event: { readonly type: string }): string => `event: ${event.type}\n${data(event)}`
type Body = Readonly<Record<string, unknown>>
type Named = { readonly name: string }

function chatBody({ text = [], calls = [], finish, usage }: WireAnswer): string {
  const chunk = (delta: object, finishReason: string | null = null): string =>
    data({
      id: 'chat-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    })
  const end = finish === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : finish
  const asked = calls.flatMap(({ name, pieces }, index) => [
    chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] }),
    ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ])
  const counted = usage === undefined ? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } : usage
  return [
    chunk({ role: 'assistant', content: '' }),
    ...text.map((content) => chunk({ content })),
    ...asked,
    ...(end === null ? [] : [chunk({}, end)]),
    ...(counted === null ? [] : [data({ id: 'chat-1', model: 'm', created: 1, choices: [], usage: counted })]),
    'data: [DONE]\n\n',
  ].join('')
}

const chatNames = {
  toolNames: (body: Body) => ((body.tools ?? []) as readonly { function: Named }[]).map((tool) => tool.function.name),
  calledNames: (body: Body) =>
    ((body.messages ?? []) as readonly { tool_calls?: readonly { function: Named }[] }[]).flatMap((message) =>
      (message.tool_calls ?? []).map((call) => call.function.name),
    ),
  finishes: { stop: 'stop', calls: 'tool_calls', length: 'length', filter: 'content_filter' },
}

function responsesBody({ text = [], calls = [], finish, usage }: WireAnswer): string {
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] }
  const counted = usage === undefined ? { input_tokens: 10, output_tokens: 5, total_tokens: 15 } : (usage ?? undefined)
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }
  const said = text.map((delta) =>
    data({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta }),
  )
  const asked = calls.flatMap(({ name, pieces }, at) => {
    const output_index = at + 1
    const item = { type: 'function_call', id: `fc_${at}`, call_id: `call_${at}`, name, status: 'in_progress' }
    return [
      data({ type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } }),
      ...pieces.map((delta) =>
        data({ type: 'response.function_call_arguments.delta', item_id: item.id, output_index, delta }),
      ),
      data({
        type: 'response.output_item.done',
        output_index,
        item: { ...item, status: 'completed', arguments: pieces.join('') },
      }),
    ]
  })
  const incomplete = finish === 'max_output_tokens' || finish === 'content_filter'
  const end = incomplete
    ? { type: 'response.incomplete', response: { ...response, incomplete_details: { reason: finish }, usage: counted } }
    : { type: 'response.completed', response: { ...response, incomplete_details: null, usage: counted } }
  return [
    data({ type: 'response.created', response }),
    ...(text.length === 0
      ? []
      : [
          data({ type: 'response.output_item.added', output_index: 0, item: message }),
          ...said,
          data({ type: 'response.output_item.done', output_index: 0, item: message }),
        ]),
    ...asked,
    ...(finish === null ? [] : [data(end)]),
  ].join('')
}

function anthropicBody({ text = [], calls = [], finish, usage }: WireAnswer): string {
  const counted = usage === undefined ? { input_tokens: 10, output_tokens: 5 } : usage
  const end = finish === undefined ? (calls.length > 0 ? 'tool_use' : 'end_turn') : finish
  const first = text.length === 0 ? 0 : 1
  const said =
    first === 0
      ? []
      : [
          named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
          ...text.map((piece) =>
            named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } } as never),
          ),
          named({ type: 'content_block_stop', index: 0 } as never),
        ]
  const asked = calls.flatMap(({ name, pieces }, at) => {
    const index = first + at
    const block = { type: 'tool_use', id: `toolu_${at}`, name, input: {} }
    return [
      named({ type: 'content_block_start', index, content_block: block } as never),
      ...pieces.map((partial_json) =>
        named({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } } as never),
      ),
      named({ type: 'content_block_stop', index } as never),
    ]
  })
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
  const begun = counted === null ? message : { ...message, usage: counted }
  const delta = { stop_reason: end, stop_sequence: null }
  return [
    named({ type: 'message_start', message: begun } as never),
    named({ type: 'ping' }),
    ...said,
    ...asked,
    ...(end === null
      ? []
      : [named({ type: 'message_delta', delta, ...(counted === null ? {} : { usage: counted }) } as never)]),
    named({ type: 'message_stop' }),
  ].join('')
}

/** Every interface of a provider that is spoken, with the package that speaks it. */
export const wires: readonly Wire[] = [
  {
    name: 'openai chat',
    model: (baseURL) => createOpenAI({ baseURL, apiKey: 'key' }).chat('m'),
    body: chatBody,
    ...chatNames,
  },
  {
    name: 'openai-compatible',
    model: (baseURL) => createOpenAICompatible({ name: 'here', baseURL, includeUsage: true })('m'),
    body: chatBody,
    ...chatNames,
  },
  {
    name: 'openai responses',
    model: (baseURL) => createOpenAI({ baseURL, apiKey: 'key' })('m'),
    body: responsesBody,
    finishes: { stop: 'stop', calls: 'calls', length: 'max_output_tokens', filter: 'content_filter' },
    toolNames: (body) => ((body.tools ?? []) as readonly Named[]).map(({ name }) => name),
    calledNames: (body) =>
      ((body.input ?? []) as readonly (Named & { type?: string })[])
        .filter(({ type }) => type === 'function_call')
        .map(({ name }) => name),
  },
  {
    name: 'anthropic',
    model: (baseURL) => createAnthropic({ baseURL, apiKey: 'key' })('m'),
    body: anthropicBody,
    finishes: { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', filter: 'refusal' },
    toolNames: (body) => ((body.tools ?? []) as readonly Named[]).map(({ name }) => name),
    calledNames: (body) =>
      ((body.messages ?? []) as readonly { content: readonly (Named & { type: string })[] | string }[]).flatMap(
        ({ content }) =>
          typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_use').map(({ name }) => name),
      ),
  },
]
