/** The versions of the provider specification that are understood: the one of today, and the two before it that are still in use. */
export type SpecificationVersion = 'v4' | 'v3' | 'v2'

/** A message of the prompt; all versions of the specification have the same shape for what we send. */
export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly TextPart[] }
  | { readonly role: 'assistant'; readonly content: readonly (TextPart | ToolCallPart)[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] }

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

export interface ToolResultPart {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly output: { readonly type: 'text'; readonly value: string }
}

export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
}

/** What a language model is called with. */
export interface CallOptions {
  readonly prompt: readonly PromptMessage[]
  readonly maxOutputTokens: number
  readonly tools?: readonly FunctionTool[]
  readonly abortSignal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  readonly [setting: string]: unknown
}

/**
 * A language model of the AI SDK, by its shape alone: no package of the SDK is imported, so that any copy and any version of
 * them may be used. The functions are declared as methods and with loose parameters because each provider narrows them.
 */
export interface LanguageModelLike {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
