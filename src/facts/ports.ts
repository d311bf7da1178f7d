import type { JsonObject, Purpose } from '../../machines/vocabulary.ts'

/** Milliseconds since the epoch. The only source of time above `machines/`. */
export interface Clock {
  now(): number
}

/** The only source of randomness. */
export interface Random {
  /** In [0, 1). */
  next(): number
  bytes(count: number): Uint8Array
}

/** ULIDs. The runtime makes them increase within a session even when the clock goes back. */
export interface Ids {
  next(): string
}

/** Timers and turns of the event loop, so that a simulator can own both. */
export interface Scheduler {
  /** Runs `task` at `at` (ms since the epoch) or later, never earlier, however far away; returns the canceller. */
  at(at: number, task: () => void): () => void
  /** Runs `task` soon, after the current turn of the loop. */
  soon(task: () => void): void
}

/** Takes secrets out of text and of plain data. Must be deterministic; may throw (then the field is withheld). */
export interface Redactor {
  readonly name: string
  text(value: string): string
  value(value: unknown): unknown
}

export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[]
  readonly toolCallId?: string
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
}

/** Plain frozen JSON data: what a model is asked, without a signal. */
export interface ModelRequest {
  readonly system: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  /** Tokens. */
  readonly maxOutput: number
  readonly settings: JsonObject
  readonly purpose: Purpose
  /** nth foreground task started in the session, from 0; -1 for a background task. */
  readonly turn: number
  /** nth answer within the task, from 0. */
  readonly step: number
  /** Index in `messages` of the user message that began the task, where the view still has it. */
  readonly inputAt?: number
}

export type ModelChunk =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** A piece of the arguments of a call that will follow whole: a sign of life, and charged when the answer is cut before. */
  | { readonly type: 'arguments'; readonly text: string }
  | { readonly type: 'call'; readonly id?: string; readonly name: string; readonly arguments: unknown }
  | {
      readonly type: 'finish'
      readonly reason: 'stop' | 'calls' | 'length' | 'filter' | 'other'
      readonly usage?: { readonly [K in 'input' | 'output' | 'total' | 'cached' | 'reasoning']?: number | undefined }
    }

export interface Model {
  readonly name: string
  request(
    request: ModelRequest,
    /** `traceparent`: the request's place in its trace, for a header (W3C trace context). */
    context: { signal: AbortSignal; attempt: number; traceparent?: string },
  ): AsyncIterable<ModelChunk>
}

/** What a model throws for a failure of the provider. Anything else is `MODEL_INVALID_RESPONSE`. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: string
  readonly retryable: boolean
  readonly retryAfterMs?: number
  /** For the operator, who reads it in the log: what to do, in words of the adapter's own and never of the conversation. */
  readonly reason?: string

  constructor(options: { code: string; retryable: boolean; retryAfterMs?: number; message?: string; reason?: string }) {
    super(options.message ?? options.reason ?? options.code)
    this.code = options.code
    this.retryable = options.retryable
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.reason !== undefined) this.reason = options.reason
  }
}

/** By shape: a host's model may come with its own copy of the class. */
export function isModelError(error: unknown): error is ModelError {
  return error instanceof Error && error.name === 'ModelError' && typeof (error as { code?: unknown }).code === 'string'
}
