import { LandfallError } from '../facts/errors.ts'

export function usageError(message: string): LandfallError {
  return new LandfallError('USAGE', message)
}

/** A flag or a value that later versions have: refused, because ignoring it would do something else than was asked. */
export function unsupported(what: string, instead: string): LandfallError {
  return new LandfallError('UNSUPPORTED', `${what} is not part of this version. ${instead}`, { details: { what } })
}
