import { LandfallError } from '../facts/errors.ts'
import type { Scope } from '../facts/scope.ts'
import type { Host } from './options.ts'
import type { Services } from './services.ts'

/** The epoch under which this runtime owns the session, or a refusal that names the owner. */
export async function claimSession(host: Host, scope: Scope): Promise<number> {
  while (host.fair.spent) await host.fair.turn()
  const claim = await host.log.claim(scope, host.instance)
  if (claim.claimed) return claim.epoch
  throw new LandfallError('OWNERSHIP_LOST', 'Another process works on this session. Send the command to it.', {
    retryable: true,
    details: { session: scope.session, owner: claim.owner.id },
  })
}

/** A process that slept past its lease asks whether the session is still its own before it does what a step asks for. */
export async function stillOwns(services: Services, scope: Scope, epoch: number): Promise<boolean> {
  const { host, lease } = services
  if (host.clock.now() < lease.until) return true
  try {
    await lease.renew()
    const claim = await host.log.claim(scope, host.instance)
    return claim.claimed && claim.epoch === epoch && host.clock.now() < lease.until
  } catch {
    host.logger.warn({}, 'the lease of a session could not be confirmed')
    return false
  }
}

export function shuttingDown(): LandfallError {
  return new LandfallError('SHUTTING_DOWN', 'This runtime is closing. Open another one.', { retryable: true })
}
