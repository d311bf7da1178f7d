import { LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import type { Host } from './options.ts'

/** The epoch under which this runtime owns the session, or a refusal that names the owner. */
export async function claimSession(host: Host, scope: Scope): Promise<number> {
  const claim = await host.log.claim(scope, host.instance)
  if (claim.claimed) return claim.epoch
  throw new LandfallError('OWNERSHIP_LOST', 'Another process works on this session. Send the command to it.', {
    retryable: true,
    details: { session: scope.session, owner: claim.owner.id },
  })
}
