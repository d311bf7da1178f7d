import { readFile } from 'node:fs/promises'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  exportJWK,
  importSPKI,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose'
import { LandfallError } from '../facts/errors.ts'
import { isLoopback } from './local-identity.ts'

/** What verifies signatures: keys at hand, or keys that are fetched and kept. */
export type KeySet = JWTVerifyGetKey

const asymmetricTypes: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP'])

/** Keys from a file (a key set, one key, or a PEM) or from a URL, which must be https except on this machine. */
export async function loadKeySet(place: string): Promise<KeySet> {
  return /^https?:/i.test(place) ? remoteKeySet(place) : localKeySet(await keysOfFile(place))
}

/** Refuses everything but public keys of asymmetric algorithms: a shared secret here would let every reader sign. */
export function localKeySet(keys: JSONWebKeySet): KeySet {
  if (!Array.isArray(keys.keys) || keys.keys.length === 0) throw invalid('The key set holds no keys.')
  for (const key of keys.keys) {
    if (!asymmetricTypes.has(key.kty)) throw invalid('Only asymmetric keys are taken: RSA, EC or OKP.')
    if ('d' in key) throw invalid('The key set holds a private key. Give the public part alone.')
  }
  const find = createLocalJWKSet(keys)
  if (keys.keys.some(({ kid }) => kid !== undefined)) return find
  // Keys without names, as in a PEM: what a token calls its key is of no use here.
  return ({ kid: _kid, ...header }, token) => find(header, token)
}

function remoteKeySet(place: string): KeySet {
  let url: URL
  try {
    url = new URL(place)
  } catch {
    throw invalid('The address of the key set is no URL.')
  }
  if (url.protocol !== 'https:' && !isLoopback(url.hostname))
    throw invalid('A key set is fetched by https, or from this machine.')
  return createRemoteJWKSet(url)
}

async function keysOfFile(file: string): Promise<JSONWebKeySet> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw invalid('The file of the key set cannot be read. Name an existing file.', cause)
  }
  if (text.includes('-----BEGIN PUBLIC KEY-----')) return { keys: [await keyOfPem(text)] }
  try {
    const value = JSON.parse(text) as Partial<JSONWebKeySet> & JWK
    return Array.isArray(value.keys) ? { keys: value.keys } : { keys: [value] }
  } catch (cause) {
    throw invalid('The file of the key set is no JSON. Give a JWKS, a JWK or a PEM public key.', cause)
  }
}

/** A PEM does not name its algorithm; the ones that its kind of key may stand for are tried in turn. */
async function keyOfPem(text: string): Promise<JWK> {
  for (const algorithm of ['RS256', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
    try {
      return await exportJWK(await importSPKI(text, algorithm, { extractable: true }))
    } catch {
      // Another kind of key.
    }
  }
  throw invalid('The PEM is no public key of a known kind.')
}

function invalid(message: string, cause?: unknown): LandfallError {
  return new LandfallError('INVALID_INPUT', message, { details: { field: 'jwks' }, cause })
}
