import { LandfallError } from '../../facts/errors.ts'
import type { Clock, Model, ModelChunk, ModelRequest } from '../../facts/ports.ts'
import { systemClock } from '../../facts/system-ports.ts'
import { type ToolAliases, type ToolNameRules, toolAliases } from '../tool-aliases.ts'
import { promptOf, settingsOf } from './call-options.ts'
import { checkModelOptions } from './check-model-options.ts'
import type { CallOptions, LanguageModelLike, SpecificationVersion } from './language-model.ts'
import { modelErrorOf } from './provider-error.ts'
import { chunksOf } from './stream-chunks.ts'

export interface AiSdkModelOptions {
  /** How facts name the model; absent: provider and model id. */
  readonly name?: string
  /** What the provider takes as the name of a tool; absent: what the well-known ones take. */
  readonly toolNames?: ToolNameRules
  readonly headers?: Readonly<Record<string, string>>
  readonly clock?: Clock
}

const versions: ReadonlySet<string> = new Set<SpecificationVersion>(['v4', 'v3', 'v2'])
const characters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-'

/** Any language model of the AI SDK as a `Model`. Retries are the runtime's: each attempt is a fact. */
export function aiSdkModel(model: LanguageModelLike, options: AiSdkModelOptions = {}): Model {
  checkModelOptions(options)
  const version = versionOf(model)
  const { provider, modelId } = model
  const clock = options.clock ?? systemClock
  const rules = options.toolNames ?? { characters, maxChars: provider.includes('anthropic') ? 128 : 64 }
  return {
    name: options.name ?? `${provider}/${modelId}`,
    async *request(request, { signal, traceparent }) {
      const aliases = aliasesOf(request, rules)
      const asked: CallOptions = {
        ...settingsOf(request.settings),
        prompt: promptOf(request, aliases),
        maxOutputTokens: request.maxOutput,
        ...toolsOf(request, aliases),
        ...headersOf(options.headers, traceparent),
        abortSignal: signal,
      }
      yield* answerOf(model, asked, (parts) => chunksOf(parts, { version, provider, aliases, clock }), clock)
    },
  }
}

function headersOf(given: AiSdkModelOptions['headers'], traceparent: string | undefined): Pick<CallOptions, 'headers'> {
  if (traceparent === undefined) return given === undefined ? {} : { headers: given }
  return { headers: { traceparent, ...given } }
}

async function* answerOf(
  model: LanguageModelLike,
  options: CallOptions,
  read: (parts: AsyncIterable<unknown>) => AsyncIterable<ModelChunk>,
  clock: Clock,
): AsyncGenerator<ModelChunk> {
  try {
    const { stream } = await model.doStream(options as never)
    yield* read(partsOf(stream, options.abortSignal))
  } catch (error) {
    options.abortSignal.throwIfAborted()
    throw modelErrorOf(error, clock)
  }
}

/** Lets go of the stream when nobody reads on and when the request is aborted, whether or not the provider listens. */
async function* partsOf(stream: ReadableStream<unknown>, signal: AbortSignal): AsyncGenerator<unknown> {
  const reader = stream.getReader()
  const letGo = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', letGo, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', letGo)
    letGo()
  }
}

function aliasesOf({ tools, messages }: ModelRequest, rules: ToolNameRules): ToolAliases {
  return toolAliases(
    {
      offered: tools.map(({ name }) => name),
      earlier: messages.flatMap(({ toolCalls }) => (toolCalls ?? []).map(({ name }) => name)),
    },
    rules,
  )
}

function toolsOf({ tools }: ModelRequest, aliases: ToolAliases): Pick<CallOptions, 'tools'> {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name: aliases.aliasOf(name),
      description,
      inputSchema: structuredClone(inputSchema),
    })),
  }
}

/** What it says may be anything at runtime: a host may have an older or a newer SDK than ours was written for. */
function versionOf(model: LanguageModelLike): SpecificationVersion {
  const { specificationVersion, doStream } = (model ?? {}) as Partial<LanguageModelLike>
  const isNamed = typeof model?.provider === 'string' && typeof model.modelId === 'string'
  if (isNamed && typeof doStream === 'function' && versions.has(specificationVersion ?? ''))
    return specificationVersion as SpecificationVersion
  const message = 'This is no language model of specification v4, v3 or v2. Use a provider package of that generation.'
  throw new LandfallError('MODEL_SPECIFICATION_UNSUPPORTED', message, {
    details: { specificationVersion: String(specificationVersion), understood: [...versions] },
  })
}
