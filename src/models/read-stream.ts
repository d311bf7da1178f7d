import type { FinishReason, Usage } from '../../machines/vocabulary.ts'
import type { FairLoop } from '../facts/fair-loop.ts'
import {
  type Clock,
  type Ids,
  isModelError,
  type Model,
  type ModelChunk,
  ModelError,
  type ModelRequest,
  type Scheduler,
} from '../facts/ports.ts'
import { AnswerBuilder, invalidResponse, type ModelCall } from './answer-builder.ts'
import { guardStream } from './stream-guard.ts'
import { normaliseUsage } from './usage.ts'

export interface ReadContext {
  readonly signal: AbortSignal
  readonly attempt: number
  readonly traceparent?: string
}

export interface ReadHooks {
  readonly clock: Clock
  readonly scheduler: Scheduler
  /** Asked before each chunk is taken, since the chunks of many answers may come at once. */
  readonly fair?: FairLoop
  readonly ids: Ids
  /** Longest silence, before the first chunk and between chunks. */
  readonly idleMs: number
  /** Bytes of the request, for the estimate where the provider does not count. */
  readonly requestBytes: number
  /** Told of each chunk that was found valid. */
  readonly onChunk?: (chunk: ModelChunk) => void
  /** Told after each chunk, valid or not, how much has come so far: what a cut request is charged for. */
  readonly onBytes?: (receivedBytes: number) => void
}

export interface ModelAnswer {
  readonly text: string
  readonly calls: readonly ModelCall[]
  readonly finish: FinishReason
  readonly usage: Usage
  readonly receivedBytes: number
}

function timedOut(): ModelError {
  return new ModelError({ code: 'MODEL_TIMEOUT', retryable: true, message: 'The model was silent for too long.' })
}

/**
 * Reads one answer and believes nothing that was not checked. Rejects with the caller's reason when aborted (at once, also
 * when the model does not listen), and with a `ModelError` otherwise.
 */
export async function readStream(
  model: Model,
  request: ModelRequest,
  context: ReadContext,
  hooks: ReadHooks,
): Promise<ModelAnswer> {
  const answer = new AnswerBuilder(hooks.ids)
  const guard = guardStream({ ...hooks, signal: context.signal, timedOut })
  let chunks: AsyncIterator<unknown> | undefined
  try {
    guard.signal.throwIfAborted()
    chunks = model.request(request, { ...context, signal: guard.signal })[Symbol.asyncIterator]()
    const source = chunks
    for (;;) {
      const result = await guard.next(async () => source.next())
      while (hooks.fair?.spent === true) await hooks.fair.turn()
      guard.signal.throwIfAborted()
      if (result.done) break
      try {
        answer.take(result.value)
      } finally {
        hooks.onBytes?.(answer.receivedBytes)
      }
      hooks.onChunk?.(result.value as ModelChunk)
    }
    const { text, finish, usage } = answer.end()
    const { receivedBytes, calls } = answer
    const counts = normaliseUsage(usage, { request: hooks.requestBytes, received: receivedBytes })
    return { text, calls, finish, usage: counts, receivedBytes }
  } catch (error) {
    const reason = guard.signal.aborted
      ? guard.signal.reason
      : isModelError(error)
        ? error
        : invalidResponse('the stream broke')
    guard.cut(reason)
    abandon(chunks)
    throw reason
  } finally {
    guard.close()
  }
}

/** Tells the stream that nobody reads on, without waiting: it may be deaf. */
function abandon(chunks: AsyncIterator<unknown> | undefined): void {
  Promise.resolve()
    .then(() => chunks?.return?.())
    .catch(() => {})
}
