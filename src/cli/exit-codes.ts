import { isLandfallError } from '../facts/errors.ts'

export const exitCodes = { done: 0, failed: 1, usage: 2, refused: 3, cancelled: 130 } as const

/** Somebody else decides about the session, or nobody any more: a refusal, though no chart spoke it. */
const refusals: ReadonlySet<string> = new Set(['OWNERSHIP_LOST', 'SESSION_ERASED', 'SESSION_BUSY', 'LIMIT_EXCEEDED'])
const usage: ReadonlySet<string> = new Set(['INVALID_INPUT', 'USAGE', 'UNSUPPORTED'])

export function exitCodeOf(error: unknown): number {
  if (!isLandfallError(error)) return exitCodes.failed
  if (error.details.refused === true || refusals.has(error.code)) return exitCodes.refused
  return usage.has(error.code) ? exitCodes.usage : exitCodes.failed
}

/** A turn that another one replaced did not do what it was asked, and did not fail either. */
const ofStatus: { readonly [status: string]: number } = {
  completed: exitCodes.done,
  failed: exitCodes.failed,
  cancelled: exitCodes.cancelled,
  superseded: exitCodes.cancelled,
}

export function exitCodeOfStatus(status: string): number {
  return ofStatus[status] ?? exitCodes.failed
}
