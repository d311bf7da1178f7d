import { describe, expect, it } from 'vitest'
import { aiSdkModel } from '../../src/models/ai-sdk/ai-sdk-model.ts'
import { normaliseUsage, usageOfPart } from '../../src/models/usage.ts'
import { ask } from './wire/ask.ts'
import { serving, streamed } from './wire/provider-server.ts'
import { wires } from './wire/wires.ts'

const bytes = { request: 400, received: 40 }

/** Usage in the words of each provider, with where the shape comes from and what it means. */
const onTheWire: readonly (readonly [wire: string, what: string, from: string, usage: object, means: object])[] = [
  [
    'openai chat',
    'cached inside the prompt, reasoning inside the completion',
    'OpenAI, reference of chat completions (CompletionUsage) and guide to prompt caching',
    {
      prompt_tokens: 2_006,
      completion_tokens: 300,
      total_tokens: 2_306,
      prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 256, accepted_prediction_tokens: 0 },
    },
    { input: 2_006, output: 300, total: 2_306, cached: 1_920, reasoning: 256 },
  ],
  [
    'openai responses',
    'cached inside the input, reasoning inside the output',
    'OpenAI, reference of responses (ResponseUsage)',
    {
      input_tokens: 81,
      input_tokens_details: { cached_tokens: 64 },
      output_tokens: 1_035,
      output_tokens_details: { reasoning_tokens: 832 },
      total_tokens: 1_116,
    },
    { input: 81, output: 1_035, total: 1_116, cached: 64, reasoning: 832 },
  ],
  [
    'anthropic',
    'what is read from the cache and written into it beside the input',
    'Anthropic, guide to prompt caching',
    { input_tokens: 21, cache_creation_input_tokens: 188_086, cache_read_input_tokens: 500, output_tokens: 393 },
    { input: 188_607, output: 393, total: 189_000, cached: 500 },
  ],
  [
    'anthropic',
    'thinking inside the output',
    'Anthropic, reference of messages (Usage)',
    { input_tokens: 30, output_tokens: 400, output_tokens_details: { thinking_tokens: 350 } },
    { input: 30, output: 400, total: 430, reasoning: 350 },
  ],
  [
    'openai-compatible',
    'reasoning beside the completion, as the total tells',
    'xAI, chat completions of a model that reasons',
    {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      prompt_tokens_details: { cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 94 },
    },
    { input: 32, output: 103, total: 135, cached: 6, reasoning: 94 },
  ],
  [
    'openai-compatible',
    'hits of the cache under a name of its own',
    'DeepSeek, guide to context caching',
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    },
    { input: 100, output: 20, total: 120, cached: 64 },
  ],
  [
    'openai-compatible',
    'cached inside the prompt, and details that are zero',
    'xAI, guide to prompt caching',
    {
      prompt_tokens: 125,
      completion_tokens: 48,
      total_tokens: 173,
      prompt_tokens_details: { text_tokens: 125, audio_tokens: 0, image_tokens: 0, cached_tokens: 98 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    { input: 125, output: 48, total: 173, cached: 98 },
  ],
  [
    'openai-compatible',
    'three numbers and no details',
    'llama-server of llama.cpp',
    { completion_tokens: 10, prompt_tokens: 14, total_tokens: 24 },
    { input: 14, output: 10, total: 24 },
  ],
  [
    'openai-compatible',
    'the two numbers alone',
    'a server without details and without a total',
    { prompt_tokens: 7, completion_tokens: 3 },
    { input: 7, output: 3, total: 10 },
  ],
]

describe('usage as a provider sends it', () => {
  it.each(onTheWire)('%s: %s (%s)', async (name, ...[, , usage, means]) => {
    const wire = wires.find((each) => each.name === name)
    if (wire === undefined) throw new Error(`there is no wire ${name}`)
    const server = await serving(streamed(wire.body({ text: ['hello'], usage })))
    expect((await ask(aiSdkModel(wire.model(server.url)))).usage).toEqual(means)
  })
})

/** The specification before this one, as packages of its time filled it in. */
const ofV2: readonly (readonly [provider: string, usage: object, metadata: unknown, means: object])[] = [
  [
    'openai.responses',
    { inputTokens: 81, outputTokens: 1_035, totalTokens: 1_116, reasoningTokens: 832, cachedInputTokens: 64 },
    undefined,
    { input: 81, output: 1_035, total: 1_116, cached: 64, reasoning: 832 },
  ],
  [
    'anthropic.messages',
    { inputTokens: 21, outputTokens: 393, totalTokens: 414, cachedInputTokens: 500 },
    { anthropic: { cacheCreationInputTokens: 188_086 } },
    { input: 188_607, output: 393, total: 189_000, cached: 500 },
  ],
  [
    'anthropic.messages',
    { inputTokens: 900, outputTokens: 10, totalTokens: 910, cachedInputTokens: 200 },
    undefined,
    { input: 1_100, output: 10, total: 1_110, cached: 200 },
  ],
  [
    'google.generative-ai',
    { inputTokens: 50, outputTokens: 20, totalTokens: 170, reasoningTokens: 100, cachedInputTokens: 30 },
    undefined,
    { input: 50, output: 120, total: 170, cached: 30, reasoning: 100 },
  ],
  [
    'somebody',
    { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined },
    undefined,
    {
      input: 100,
      output: 10,
      total: 110,
      estimated: true,
    },
  ],
]

describe('usage in the last piece of an answer', () => {
  it('is taken also where it stands beside the finish, and not behind it (llama-server of llama.cpp)', async () => {
    const wire = wires.find(({ name }) => name === 'openai-compatible')
    const usage = { completion_tokens: 10, prompt_tokens: 14, total_tokens: 24 }
    const body = (wire?.body({ text: ['hello'], usage: null }) ?? '').replace(
      '"finish_reason":"stop"}]',
      `"finish_reason":"stop"}],"usage":${JSON.stringify(usage)}`,
    )
    const server = await serving(streamed(body))
    const answer = wire === undefined ? null : await ask(aiSdkModel(wire.model(server.url)))
    expect(answer?.usage).toEqual({ input: 14, output: 10, total: 24 })
  })
})

describe('usage of the specification before', () => {
  it.each(ofV2)('%s: %j', (provider, usage, metadata, means) => {
    expect(normaliseUsage(usageOfPart(usage, { version: 'v2', provider, metadata }), bytes)).toEqual(means)
  })

  it('is an estimate where a package wrote zeros for what the provider did not say', () => {
    const zero = { total: 0 }
    const of = { provider: 'somebody', metadata: undefined }
    const v3 = usageOfPart({ inputTokens: zero, outputTokens: zero }, { version: 'v3', ...of })
    const v2 = usageOfPart({ inputTokens: 0, outputTokens: 0, totalTokens: 0 }, { version: 'v2', ...of })
    for (const raw of [v3, v2])
      expect(normaliseUsage(raw, bytes)).toMatchObject({ input: 100, output: 10, estimated: true })
  })

  it('is an estimate where it is no usage at all', () => {
    for (const version of ['v2', 'v3'] as const)
      for (const usage of [undefined, null, 7, 'many', {}, { inputTokens: -1, outputTokens: 0.5 }])
        expect(normaliseUsage(usageOfPart(usage, { version, provider: 'x', metadata: null }), bytes)).toEqual({
          input: 100,
          output: 10,
          total: 110,
          estimated: true,
        })
  })
})
