import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { aiSdkModel } from '../../src/models/ai-sdk/ai-sdk-model.ts'
import type { LanguageModelLike } from '../../src/models/ai-sdk/language-model.ts'
import { ask } from './wire/ask.ts'
import { inPieces, serving } from './wire/provider-server.ts'
import { type Wire, wires } from './wire/wires.ts'

interface Recorded {
  readonly package: string
  readonly specification: 'v2' | 'v4'
  readonly provider: string
  readonly parts: readonly object[]
}

/**
 * What packages of the generations before and after the installed ones gave for one and the same answer over HTTP, part by part.
 * They were run, and their streams recorded, because three generations of one package are not installed beside each other.
 */
const recorded = JSON.parse(readFileSync(new URL('wire/recorded-parts.json', import.meta.url), 'utf8')) as Recorded[]

/** The usage of that answer: OpenAI's guide to prompt caching, and Anthropic's, in the words of each. */
const usages: Readonly<Record<string, object>> = {
  anthropic: {
    input_tokens: 21,
    cache_creation_input_tokens: 188_086,
    cache_read_input_tokens: 500,
    output_tokens: 393,
  },
  'openai-compatible': {
    prompt_tokens: 2_006,
    completion_tokens: 300,
    total_tokens: 2_306,
    prompt_tokens_details: { cached_tokens: 1_920 },
    completion_tokens_details: { reasoning_tokens: 256 },
  },
}

function replaying({ specification, provider, parts }: Recorded): LanguageModelLike {
  return {
    specificationVersion: specification,
    provider,
    modelId: 'm',
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      }),
    }),
  }
}

/** The same answer from the installed package, over HTTP. */
async function fromInstalled(wire: Wire) {
  const calls = [{ name: 'fs_list', pieces: ['{"pa', 'th":"ä"}'] }]
  const usage = usages[wire.name] ?? {}
  const server = await serving(inPieces(wire.body({ text: ['Grüße ', 'aus 日本'], calls, usage }), 7))
  const model = wire.model(server.url)
  return { specification: model.specificationVersion, answer: await ask(aiSdkModel(model)) }
}

describe('an answer is one and the same to us', () => {
  it.each(recorded)('from $package, of specification $specification, as from the installed package', async (of) => {
    const wire = wires.find(
      ({ name }) => name === (of.package.includes('anthropic') ? 'anthropic' : 'openai-compatible'),
    )
    if (wire === undefined) throw new Error('there is no such wire')
    const installed = await fromInstalled(wire)
    expect(installed.specification).toBe('v3')
    const answer = await ask(aiSdkModel(replaying(of)))
    const { text, finish, usage, receivedBytes } = installed.answer
    expect(answer).toMatchObject({ text, finish, usage, receivedBytes })
    expect(answer).toMatchObject({ text: 'Grüße aus 日本', finish: 'calls' })
    expect(answer.calls).toMatchObject([{ name: 'fs.list', arguments: { path: 'ä' } }])
  })

  it('and none at all when a provider of specification v4 says that its stream was interrupted', async () => {
    const [first] = recorded.filter(({ specification }) => specification === 'v4')
    if (first === undefined) throw new Error('nothing of specification v4 was recorded')
    const parts = first.parts.map((part) =>
      'finishReason' in part ? { ...part, finishReason: { unified: 'interrupted', raw: undefined } } : part,
    )
    const asked = ask(aiSdkModel(replaying({ ...first, parts })))
    await expect(asked).rejects.toMatchObject({ code: 'MODEL_INVALID_RESPONSE' })
  })
})
