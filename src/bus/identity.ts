import { LandfallError } from '../facts/errors.ts'
import { checkId } from '../facts/ids.ts'
import type { Scope } from '../facts/scope.ts'

/** Whose facts an elevated reader sees: a user's, a tenant's, or with neither the fleet's, the control stream included. */
export interface WideFilter {
  readonly tenant?: string
  readonly user?: string
}

/** A scope of known shape, copied so that nobody changes it later; or `IDENTITY_REQUIRED`, before anything is read. */
export function requireScope(value: unknown): Scope {
  const given = recordOf(value)
  return {
    tenant: identity('tenant', given.tenant),
    user: identity('user', given.user),
    session: identity('session', given.session),
  }
}

/** A user id means somebody only inside a tenant. */
export function requireFilter(value: unknown): WideFilter {
  const given = recordOf(value)
  if (given.tenant === undefined) {
    if (given.user !== undefined) throw identityRequired('tenant')
    return {}
  }
  const tenant = identity('tenant', given.tenant)
  return given.user === undefined ? { tenant } : { tenant, user: identity('user', given.user) }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw identityRequired('scope')
  return value as Readonly<Record<string, unknown>>
}

function identity(field: string, value: unknown): string {
  try {
    return checkId(field, value)
  } catch (cause) {
    throw identityRequired(field, cause)
  }
}

function identityRequired(field: string, cause?: unknown): LandfallError {
  return new LandfallError(
    'IDENTITY_REQUIRED',
    'Tell whose events you want: tenant, user and session, each a well-formed id.',
    { details: { field }, cause },
  )
}
