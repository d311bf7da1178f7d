import { isLandfallError } from '../facts/errors.ts'
import { defaultRedactor } from '../redaction/default-redactor.ts'

export interface ShownError {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>
}

/** An error as it may be printed. What the libraries below say, or a flag that was mistyped, may hold a credential. */
export function cleanError(error: unknown): ShownError {
  const { code, message, retryable, details } = told(error)
  const redactor = defaultRedactor()
  try {
    const clean = (value: unknown) => (typeof value === 'string' ? redactor.text(value) : value)
    // By their form only: a pause's token is named by that name and must be shown.
    const shown = Object.entries(details).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(clean) : clean(value),
    ])
    return { code, message: redactor.text(message), retryable, details: Object.fromEntries(shown) }
  } catch {
    return { code, message: 'What went wrong cannot be shown safely.', retryable, details: {} }
  }
}

function told(error: unknown): ShownError {
  if (isLandfallError(error)) {
    const { refused: _refused, ...details } = error.details
    return { code: error.code, message: error.message, retryable: error.retryable, details }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'INTERNAL', message, retryable: false, details: {} }
}
