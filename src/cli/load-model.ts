import { LandfallError } from '../facts/errors.ts'
import type { Model } from '../facts/ports.ts'
import type { LanguageModelLike } from '../models/ai-sdk/language-model.ts'
import type { ModelSpec } from './model-spec.ts'
import { usageError } from './usage-error.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Vendor = Exclude<ModelSpec, { kind: 'script' }>

/** The packages of a vendor are not installed with us; who wants one installs it beside us. */
const packages = {
  openai: '@ai-sdk/openai@3',
  anthropic: '@ai-sdk/anthropic@3',
  'openai-compatible': '@ai-sdk/openai-compatible@2',
} as const

/** The model that `--model` names. Keys come from the environment, and go to the provider and nowhere else. */
export async function loadModel(spec: ModelSpec, name: string, environment: Environment): Promise<Model> {
  if (spec.kind === 'script') return loadScripted(spec.file)
  const languageModel = await languageModelOf(spec, environment)
  const { aiSdkModel } = await import('../models/ai-sdk/ai-sdk-model.ts')
  return aiSdkModel(languageModel, { name })
}

async function loadScripted(file: string): Promise<Model> {
  const [{ loadScript }, { scriptedModel }] = await Promise.all([
    import('../models/script.ts'),
    import('../models/scripted-model.ts'),
  ])
  return scriptedModel(await loadScript(file))
}

async function languageModelOf(spec: Vendor, environment: Environment): Promise<LanguageModelLike> {
  switch (spec.kind) {
    case 'openai': {
      const apiKey = keyOf('OPENAI_API_KEY', environment)
      const { createOpenAI } = await installed(spec, import('@ai-sdk/openai'))
      return createOpenAI({ apiKey })(spec.id)
    }
    case 'anthropic': {
      const apiKey = keyOf('ANTHROPIC_API_KEY', environment)
      const { createAnthropic } = await installed(spec, import('@ai-sdk/anthropic'))
      return createAnthropic({ apiKey })(spec.id)
    }
    case 'openai-compatible': {
      // A key for a well-known vendor is not sent to an address that somebody typed.
      const apiKey = environment.OPENAI_COMPATIBLE_API_KEY ?? ''
      const { createOpenAICompatible } = await installed(spec, import('@ai-sdk/openai-compatible'))
      const keyed = apiKey === '' ? {} : { apiKey }
      return createOpenAICompatible({ name: 'openai-compatible', baseURL: spec.url, includeUsage: true, ...keyed })(
        spec.id,
      )
    }
  }
}

function keyOf(variable: string, environment: Environment): string {
  const key = environment[variable] ?? ''
  if (key === '') throw usageError(`This model needs a key. Set ${variable} in the environment.`)
  return key
}

async function installed<T>(spec: Vendor, module: Promise<T>): Promise<T> {
  try {
    return await module
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const wanted = packages[spec.kind]
    throw new LandfallError('USAGE', `This model needs a package that is not installed: npm install ${wanted}`, {
      details: { install: `npm install ${wanted}` },
    })
  }
}
