import { LandfallError } from '../facts/errors.ts'
import { checkId } from '../facts/ids.ts'
import type { Scope } from '../facts/scope.ts'

/** Claims that widen what an identity may do beyond the sessions of its own user. Each use is on record. */
export const elevatedScopes = ['elevated:user', 'elevated:tenant', 'elevated:fleet', 'elevated:capabilities'] as const
export type ElevatedScope = (typeof elevatedScopes)[number]

/** Who asks, from the credentials of the request alone. */
export interface Identity {
  readonly tenant: string
  readonly user: string
  readonly scopes: ReadonlySet<string>
  /** The only sessions that it may reach; null for all of its user. */
  readonly sessions: ReadonlySet<string> | null
  /** ms since the epoch; a stream does not outlive it. */
  readonly expiresAt: number | null
}

/** What an identity is read from. `remote` is known where the server is ours. */
export interface Credentials {
  readonly headers: Headers
  readonly url: URL
  readonly remote: string | null
}

/** Throws `IDENTITY_REQUIRED` (401) for missing or bad credentials, and nothing that says which it was. */
export interface Identify {
  /** Who is asked for nothing but a well-formed header must not be reached from elsewhere. */
  readonly loopbackOnly: boolean
  (credentials: Credentials): Promise<Identity>
}

export function identityRequired(message = 'Say who you are: a valid bearer token is needed.'): LandfallError {
  return new LandfallError('IDENTITY_REQUIRED', message)
}

export function checkedIdentity(tenant: unknown, user: unknown): Pick<Identity, 'tenant' | 'user'> {
  try {
    return { tenant: checkId('tenant', tenant), user: checkId('user', user) }
  } catch {
    throw identityRequired('The identity is no well-formed tenant and user.')
  }
}

/**
 * The scope of a session in the path. A session that the identity may not reach is refused before anything is looked up, so the
 * answer is the same whether it exists or not.
 */
export function scopeFor({ tenant, user, sessions }: Identity, session: string): Scope {
  const scope = { tenant, user, session: checkId('session', session) }
  if (sessions !== null && !sessions.has(session))
    throw new LandfallError('SCOPE_REQUIRED', 'These credentials do not reach this session.')
  return scope
}

/** Credentials for some sessions are for those alone, whatever else they claim. */
export function isElevated({ scopes, sessions }: Identity, scope: ElevatedScope): boolean {
  return scopes.has(scope) && sessions === null
}

export function requireElevated(identity: Identity, scope: ElevatedScope): void {
  if (isElevated(identity, scope)) return
  throw new LandfallError('SCOPE_REQUIRED', 'This needs an elevated claim that the credentials do not have.', {
    details: { scope },
  })
}
