import { createHash } from 'node:crypto'
import { LandfallError } from '../facts/errors.ts'
import { type Scope, scopeKey } from '../facts/scope.ts'
import type { Step } from './step.ts'

/**
 * A pause's token: 16 random bytes that nobody can guess, and a mark of the scope that it was made in. The mark says nothing about
 * what exists; it lets a session tell a token of another scope from one of its own without knowing the other.
 */
export function newToken(step: Step): string {
  const drawn = Buffer.from(step.base.host.random.bytes(16)).toString('base64url')
  // A word that begins with a hyphen is an option to every command line.
  const secret = drawn.replace(/^-/, 'A')
  return `${secret}.${markOf(step.base.scope, secret)}`
}

/** Refuses a token that was made in another scope. */
export function checkToken(scope: Scope, token: string): void {
  const [secret = '', mark] = token.split('.')
  if (mark === undefined || mark.length !== markChars || mark === markOf(scope, secret)) return
  throw new LandfallError('SCOPE_MISMATCH', 'This token was made in another session, or for another user.', {
    details: { refused: true },
  })
}

const markChars = 12

function markOf(scope: Scope, secret: string): string {
  return createHash('sha256').update(secret).update(scopeKey(scope)).digest('base64url').slice(0, markChars)
}
