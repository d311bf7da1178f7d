import { LandfallError } from '../facts/errors.ts'
import { checkId } from '../facts/ids.ts'
import type { Redactor } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { freeText } from './free-text.ts'

/**
 * The name of a tenant, a user, a session or whoever acts. It stands as it is in every fact, path, line and span, so one that the
 * redactor would alter, or fails on, is refused at the door.
 */
export function checkedIdentifier(redactor: Redactor, kind: string, value: unknown): string {
  const id = checkId(kind, value)
  if (freeText(redactor, id) === id) return id
  const message = `The ${kind} id looks like a credential, and would stand in every record. Choose another one.`
  throw new LandfallError('INVALID_INPUT', message, { details: { field: kind } })
}

/** A copy, so that nobody changes it later. */
export function checkedScope(redactor: Redactor, given: unknown): Scope {
  const { tenant, user, session } = (given ?? {}) as Readonly<Record<string, unknown>>
  return {
    tenant: checkedIdentifier(redactor, 'tenant', tenant),
    user: checkedIdentifier(redactor, 'user', user),
    session: checkedIdentifier(redactor, 'session', session),
  }
}
