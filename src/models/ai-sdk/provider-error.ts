import { type Clock, isModelError, ModelError } from '../../facts/ports.ts'
import { invalidResponse } from '../answer-builder.ts'
import { isRecord } from './language-model.ts'

/** What providers answer with that is no answer of theirs: the stream cannot be read as one. */
const unreadable: Readonly<Record<string, string>> = {
  AI_JSONParseError: 'a part of the stream is no JSON',
  AI_TypeValidationError: 'a part of the stream is not of its kind',
  AI_InvalidResponseDataError: 'a part of the stream is missing or out of place',
  AI_EmptyResponseBodyError: 'it has no body',
  AI_NoContentGeneratedError: 'it has no content',
}

const refused: Readonly<Record<string, string>> = {
  AI_LoadAPIKeyError: 'The provider needs a key, and none is set.',
  AI_LoadSettingError: 'The provider needs a setting that is missing.',
  AI_UnsupportedFunctionalityError: 'The provider cannot do what the request asks for.',
  AI_InvalidPromptError: 'The provider does not take such a conversation.',
  AI_InvalidArgumentError: 'The provider does not take one of the settings.',
}

/** Kinds of an error inside a stream after which the provider itself says that asking again may help. */
const passing: ReadonlySet<unknown> = new Set([
  'overloaded_error',
  'rate_limit_error',
  'rate_limit_exceeded',
  'api_error',
  'server_error',
  'timeout_error',
])

/**
 * What a provider's failure means for us. Nothing of its text is taken over: it may quote the conversation, or a key. Only the
 * status, the kind, the provider's own word on asking again, and when.
 */
export function modelErrorOf(error: unknown, clock: Clock): ModelError {
  if (isModelError(error)) return error
  const failure = isRecord(error) ? error : {}
  const name = nameOf(failure)
  const broken = unreadableOf(failure)
  if (broken !== undefined) return invalidResponse(broken)
  const no = Object.hasOwn(refused, name) ? refused[name] : undefined
  if (no !== undefined) return new ModelError({ code: 'MODEL_FAILED', retryable: false, reason: no })
  const status = typeof failure.statusCode === 'number' ? failure.statusCode : null
  const isRetryable = typeof failure.isRetryable === 'boolean' ? failure.isRetryable : isPassing(failure)
  const wait = isRetryable ? waitOf(failure.responseHeaders, clock) : null
  return new ModelError({
    code: 'MODEL_FAILED',
    retryable: isRetryable,
    reason: reasonOf(status, isRetryable),
    ...(wait === null ? {} : { retryAfterMs: wait }),
  })
}

function nameOf(failure: Readonly<Record<string, unknown>>): string {
  return typeof failure.name === 'string' ? failure.name : ''
}

/** Some packages wrap what is wrong with the first part of a stream into an answer of the provider that never came. */
function unreadableOf(failure: Readonly<Record<string, unknown>>): string | undefined {
  const name = nameOf(failure)
  if (Object.hasOwn(unreadable, name)) return unreadable[name]
  if (typeof failure.responseBody !== 'string' || !failure.responseBody.includes('"AI_')) return undefined
  try {
    const body: unknown = JSON.parse(failure.responseBody)
    return isRecord(body) && Object.hasOwn(unreadable, nameOf(body)) ? unreadable[nameOf(body)] : undefined
  } catch {
    return undefined
  }
}

function isPassing(failure: Readonly<Record<string, unknown>>): boolean {
  return passing.has(failure.type) || passing.has(failure.code)
}

function reasonOf(status: number | null, isRetryable: boolean): string {
  if (status === 200 || status === null)
    return isRetryable ? 'The provider could not be reached, or broke off.' : 'The provider ended with an error.'
  const known: Readonly<Record<number, string>> = {
    400: 'The provider does not take the request',
    401: 'The provider does not accept the key',
    403: 'The provider does not allow this',
    404: 'The provider does not know the model, or the address is wrong',
    413: 'The request is too large for the provider',
    429: 'The provider has had too many requests, or the quota is used up',
  }
  return `${known[status] ?? 'The provider answers with an error'} (status ${status}).`
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function waitOf(headers: unknown, clock: Clock): number | null {
  if (!isRecord(headers)) return null
  const exact = Number(headerOf(headers, 'retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const text = headerOf(headers, 'retry-after')
  if (text === undefined) return null
  const seconds = Number(text)
  if (seconds >= 0) return seconds * 1_000
  const until = Date.parse(text)
  return Number.isNaN(until) ? null : Math.max(0, until - clock.now())
}

function headerOf(headers: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
