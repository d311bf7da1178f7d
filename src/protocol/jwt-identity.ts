import { errors, type JWTPayload, jwtVerify } from 'jose'
import { LandfallError } from '../facts/errors.ts'
import { checkId } from '../facts/ids.ts'
import type { Clock } from '../facts/ports.ts'
import { type Credentials, checkedIdentity, type Identify, type Identity, identityRequired } from './identity.ts'
import type { KeySet } from './key-set.ts'

export interface JwtOptions {
  readonly keys: KeySet
  readonly clock: Clock
  readonly issuer?: string
  readonly audience?: string
}

/** None of them lets whoever can verify a token make one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** How far clocks of issuers may be apart from ours. */
const toleranceSeconds = 5

/** Identity from a signed token. Every refusal of a token is the same answer. */
export function jwtIdentity(options: JwtOptions): Identify {
  const identify = async ({ headers }: Credentials): Promise<Identity> => {
    const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(headers.get('authorization') ?? '')?.[1]
    if (token === undefined) throw identityRequired()
    return identityOf(await verified(token, options), options.clock.now())
  }
  return Object.assign(identify, { loopbackOnly: false })
}

async function verified(token: string, { keys, clock, issuer, audience }: JwtOptions): Promise<JWTPayload> {
  const expected = {
    algorithms,
    currentDate: new Date(clock.now()),
    clockTolerance: toleranceSeconds,
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  }
  try {
    return (await jwtVerify(token, keys, expected)).payload
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return await verifiedByOne(token, error, expected)
    throw isUnavailable(error) ? unavailable() : identityRequired()
  }
}

/** Several keys may have signed it; the token does not say which. */
async function verifiedByOne(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  expected: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  for await (const key of candidates) {
    try {
      return (await jwtVerify(token, key, expected)).payload
    } catch {
      // Another key, perhaps.
    }
  }
  throw identityRequired()
}

/** The keys could not be had; that says nothing about the token. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true
  return !(error instanceof errors.JOSEError) || error.constructor === errors.JOSEError
}

function unavailable(): LandfallError {
  return new LandfallError('IDENTITY_UNAVAILABLE', 'The keys that tokens are checked with cannot be had. Try again.', {
    retryable: true,
  })
}

function identityOf(claims: JWTPayload, now: number): Identity {
  const { tenant, user, sub, exp, iat, scope, scopes, sessions } = claims
  if (typeof iat === 'number' && iat * 1_000 > now + toleranceSeconds * 1_000) throw identityRequired()
  return {
    ...checkedIdentity(tenant, user ?? sub),
    scopes: new Set([...words(scope), ...words(scopes)]),
    sessions: sessions === undefined ? null : new Set(sessionsOf(sessions)),
    expiresAt: typeof exp === 'number' ? exp * 1_000 : null,
  }
}

/** Scopes are one text with blanks, as OAuth has them, or a list. */
function words(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ')
  return Array.isArray(claim) ? claim.filter((word): word is string => typeof word === 'string') : []
}

/** A set that cannot be read reaches nothing: a malformed restriction is none that may be ignored. */
function sessionsOf(claim: unknown): readonly string[] {
  if (!Array.isArray(claim)) throw identityRequired()
  try {
    return claim.map((session) => checkId('session', session))
  } catch {
    throw identityRequired()
  }
}
