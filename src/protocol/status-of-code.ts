/** What a code means to a client of HTTP. A code that is not here is a refusal when a chart spoke it, otherwise a bug of ours. */
const statuses: { readonly [code: string]: number } = {
  INVALID_INPUT: 400,
  INVALID_ARGUMENTS: 400,
  CHECKPOINT_INVALID: 400,
  CHECKPOINT_VERSION: 400,
  CURSOR_INVALID: 400,
  IDENTITY_REQUIRED: 401,
  SCOPE_REQUIRED: 403,
  SCOPE_MISMATCH: 403,
  ORIGIN_REFUSED: 403,
  AUTHORIZATION_DENIED: 403,
  NOT_FOUND: 404,
  PAUSE_NOT_FOUND: 404,
  SESSION_BUSY: 409,
  COMMAND_CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 409,
  TASK_CANCELLING: 409,
  TASK_EXISTS: 409,
  EVENT_CONFLICT: 409,
  CONTEXT_FIXED: 409,
  SESSION_RESTORING: 409,
  CURSOR_TOO_OLD: 410,
  NOT_SUPPORTED: 422,
  INVALID_TRANSITION: 422,
  TASK_NOT_ACTIVE: 422,
  TASK_NOT_RUNNING: 422,
  NOT_QUARANTINED: 422,
  ALREADY_SETTLED: 422,
  CONFIRMATION_MISMATCH: 422,
  CEILING_CANNOT_GROW: 422,
  CHECKPOINT_INTERRUPTED: 422,
  GROUP_SEALED: 422,
  SESSION_CLOSED: 422,
  SESSION_ERASED: 422,
  SHUTTING_DOWN: 503,
  STORE_BUSY: 503,
  STORE_FULL: 503,
  STORE_READONLY: 503,
  OWNERSHIP_LOST: 503,
  IDENTITY_UNAVAILABLE: 503,
}

/** Bounds of how many there may be at once; all other bounds are about the size of one thing. */
const countedAtOnce: ReadonlySet<string> = new Set([
  'queuedPerSession',
  'pendingSteeringPerTask',
  'openPausesPerSession',
  'livingChildrenPerSession',
  'subscribersPerSession',
  'httpSubscribersPerSession',
  'httpStreamsInFlight',
  'httpRequestsInFlight',
])

export function statusOfCode(code: string, details: Readonly<Record<string, unknown>>): number {
  if (code === 'LIMIT_EXCEEDED') return countedAtOnce.has(String(details.which)) ? 429 : 413
  return statuses[code] ?? (details.refused === true ? 422 : 500)
}
