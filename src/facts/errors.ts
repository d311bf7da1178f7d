/** Stable codes. Pages of the product's documentation name them; never rename one. */
export interface ErrorOptions {
  readonly retryable?: boolean
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/**
 * Every failure a user of Landfall meets. `message` says what to do next and holds no content of a conversation;
 * decide by `code`, never by the message.
 */
export class LandfallError extends Error {
  override readonly name = 'LandfallError'
  readonly code: string
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryable = options.retryable ?? false
    this.details = options.details ?? {}
  }
}

/** Recognised by shape, so that two copies of the package in one process understand each other. */
export function isLandfallError(error: unknown, code?: string): error is LandfallError {
  if (!(error instanceof Error) || error.name !== 'LandfallError') return false
  const found = (error as { code?: unknown }).code
  return typeof found === 'string' && (code === undefined || found === code)
}

/** The code to decide by; anything without one is a bug of ours. */
export function errorCode(error: unknown): string {
  return isLandfallError(error) ? error.code : 'INTERNAL'
}

/** Thrown by a tool that cannot know whether its effect happened, such as an adapter whose connection died after sending. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
}

export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof Error && error.name === 'OutcomeUnknownError'
}
