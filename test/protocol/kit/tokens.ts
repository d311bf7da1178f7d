import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { systemClock } from '../../../src/facts/system-ports.ts'
import type { Identify } from '../../../src/protocol/identity.ts'
import { jwtIdentity } from '../../../src/protocol/jwt-identity.ts'
import { localKeySet } from '../../../src/protocol/key-set.ts'

export interface Issuer {
  readonly identity: Identify
  readonly publicJwk: JWK
  readonly publicPem: string
  /** A token of these claims that ends in an hour, unless the claims say otherwise. */
  token(claims: JWTPayload): Promise<string>
  bearer(claims: JWTPayload): Promise<{ readonly authorization: string }>
}

export async function issuer(algorithm = 'ES256'): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const publicJwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: algorithm }
  const token = (claims: JWTPayload) => {
    const now = Math.floor(systemClock.now() / 1_000)
    return new SignJWT({ iat: now, exp: now + 3_600, ...claims })
      .setProtectedHeader({ alg: algorithm, kid: 'k1' })
      .sign(privateKey)
  }
  return {
    identity: jwtIdentity({ keys: localKeySet({ keys: [publicJwk] }), clock: systemClock }),
    publicJwk,
    publicPem: await exportSPKI(publicKey),
    token,
    bearer: async (claims) => ({ authorization: `Bearer ${await token(claims)}` }),
  }
}
