import type { FinishReason, JsonObject } from '../../machines/vocabulary.ts'
import { wellFormedText } from '../facts/digest.ts'
import { limits } from '../facts/limits.ts'
import { type Ids, ModelError } from '../facts/ports.ts'
import type { RawUsage } from './usage.ts'

export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly arguments: JsonObject
}

/** Chunks in a row that may hold nothing: signs of life of a provider that thinks, and not an answer without end. */
const mostEmptyChunks = 65_536

const finishReasons: ReadonlySet<unknown> = new Set(['stop', 'calls', 'length', 'filter', 'other'])

/** Says what is wrong with the stream and nothing of what was in it. */
export function invalidResponse(what: string): ModelError {
  const reason = `The model's answer is not valid: ${what}.`
  return new ModelError({ code: 'MODEL_INVALID_RESPONSE', retryable: false, reason })
}

function isFinish(reason: unknown): reason is FinishReason {
  return finishReasons.has(reason)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A plain copy with well-formed strings; null when the value is no JSON object, such as a text cut in the middle. */
function asArguments(value: unknown): JsonObject | null {
  try {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const parsed: unknown = JSON.parse(text, (_key, item) => (typeof item === 'string' ? wellFormedText(item) : item))
    return isRecord(parsed) ? (parsed as JsonObject) : null
  } catch {
    return null
  }
}

function sizeOf(args: unknown): number {
  try {
    return Buffer.byteLength(typeof args === 'string' ? args : (JSON.stringify(args) ?? ''))
  } catch {
    return 0
  }
}

/*
 * Owns what has arrived of one answer.
 * 1. A chunk is taken only when it is one of the port's and nothing follows a finish.
 * 2. Call ids are unique in the answer; a call without one gets one.
 * 3. An answer ends: what it holds is bounded, and so are chunks in a row that hold nothing.
 * 4. `receivedBytes` counts text, reasoning, names and arguments as they came, valid or not, for the charge of a cut request;
 *    arguments that came in pieces first are counted once.
 */
export class AnswerBuilder {
  receivedBytes = 0
  readonly calls: ModelCall[] = []
  private readonly texts: string[] = []
  private readonly seen = new Set<string>()
  private readonly ids: Ids
  private announced = 0
  private empty = 0
  private finished: { reason: FinishReason; usage: RawUsage | undefined } | null = null

  constructor(ids: Ids) {
    this.ids = ids
  }

  take(chunk: unknown): void {
    if (!isRecord(chunk)) throw invalidResponse('a chunk is no object')
    if (this.finished) throw invalidResponse('something follows the finish')
    const before = this.receivedBytes
    if (chunk.type === 'text' || chunk.type === 'reasoning') this.takeText(chunk)
    else if (chunk.type === 'arguments') this.takePiece(chunk)
    else if (chunk.type === 'call') this.takeCall(chunk)
    else if (chunk.type === 'finish') this.takeFinish(chunk)
    else throw invalidResponse('a chunk is of an unknown type')
    this.empty = this.receivedBytes === before ? this.empty + 1 : 0
    if (this.empty > mostEmptyChunks) throw invalidResponse('it goes on and says nothing')
  }

  end(): { text: string; finish: FinishReason; usage: RawUsage | undefined } {
    if (!this.finished) throw invalidResponse('it ends without a finish')
    const { reason, usage } = this.finished
    if (reason === 'calls' && this.calls.length === 0) throw invalidResponse('it finishes for calls and has none')
    // Some providers say stop although they call: what the answer holds decides.
    const finish = reason === 'stop' && this.calls.length > 0 ? 'calls' : reason
    return { text: wellFormedText(this.texts.join('')), finish, usage }
  }

  private takeText(chunk: Record<string, unknown>): void {
    if (typeof chunk.text !== 'string') throw invalidResponse('a text chunk has no text')
    this.receive(Buffer.byteLength(chunk.text))
    if (chunk.type === 'text') this.texts.push(chunk.text)
  }

  private takePiece(chunk: Record<string, unknown>): void {
    if (typeof chunk.text !== 'string') throw invalidResponse('a piece of arguments has no text')
    this.announced += Buffer.byteLength(chunk.text)
    this.receive(Buffer.byteLength(chunk.text))
  }

  private takeCall(chunk: Record<string, unknown>): void {
    const { name, id } = chunk
    if (typeof name !== 'string' || name === '' || name.length > limits.idChars)
      throw invalidResponse('a call has no proper name')
    this.receiveCall(name, chunk.arguments)
    const taken = asArguments(chunk.arguments)
    if (taken === null) throw invalidResponse('the arguments of a call are no complete JSON object')
    if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > limits.idChars))
      throw invalidResponse('a call has no proper id')
    const callId = id ?? this.ids.next()
    if (this.seen.has(callId)) throw invalidResponse('two calls have the same id')
    this.seen.add(callId)
    this.calls.push({ id: callId, name, arguments: taken })
  }

  private takeFinish(chunk: Record<string, unknown>): void {
    if (!isFinish(chunk.reason)) throw invalidResponse('the reason of the finish is unknown')
    if (chunk.usage !== undefined && !isRecord(chunk.usage)) throw invalidResponse('the usage is no object')
    this.finished = { reason: chunk.reason, usage: chunk.usage }
  }

  private receiveCall(name: string, args: unknown): void {
    const bytes = sizeOf(args)
    const known = Math.min(bytes, this.announced)
    this.announced -= known
    this.receive(Buffer.byteLength(name) + bytes - known)
  }

  private receive(bytes: number): void {
    this.receivedBytes += bytes
    if (this.receivedBytes > limits.contentBytes)
      throw invalidResponse(`it is larger than ${limits.contentBytes} bytes`)
  }
}
