/** Why a command is not carried out: a stable code, and a sentence that says what to do instead. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

export function refusal(code: string, message: string, details: Readonly<Record<string, unknown>> = {}): Refusal {
  return { code, message, details }
}

export function notFound(what: string, id: string): Refusal {
  return refusal('NOT_FOUND', `No such ${what} in this session.`, { [what]: id })
}
