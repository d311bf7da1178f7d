import { LandfallError } from '../../facts/errors.ts'
import type { Scope } from '../../facts/scope.ts'
import { checkedIdentifier, checkedScope } from '../checked-scope.ts'
import type { LiveSession } from '../live-session.ts'
import type { Services } from '../services.ts'
import type { Checkpoint } from './checkpoint-schema.ts'
import { parseCheckpoint } from './parse-checkpoint.ts'
import { RestoreRequest } from './restore-request.ts'

export interface RestoreOptions {
  /** Where the session goes on; absent: under the name that it had. */
  readonly scope?: Scope
  /** Who brings a session to another tenant or user; it is recorded. */
  readonly elevated?: { readonly actor: string }
}

type RestoreServices = Pick<Services, 'host' | 'control'>

/** Where a checkpoint is to be restored to, once everything about it has been checked that can be without the store. */
export function restorable(
  { host }: Pick<Services, 'host'>,
  given: unknown,
  options: RestoreOptions,
): { readonly checkpoint: Checkpoint; readonly scope: Scope } {
  const checkpoint = parseCheckpoint(given, host.limits)
  refuseInterrupted(checkpoint)
  const scope = checkedScope(host.redactor, options.scope ?? checkpoint.identity)
  if (options.elevated === undefined && isForeign(checkpoint, scope))
    throw new LandfallError('SCOPE_MISMATCH', 'The checkpoint is of another tenant or user. Say who brings it here.', {
      details: { refused: true, accepted: ['elevated'] },
    })
  return { checkpoint, scope }
}

function isForeign({ identity }: Checkpoint, { tenant, user }: Scope): boolean {
  return identity.tenant !== tenant || identity.user !== user
}

function refuseInterrupted({ identity, control }: Checkpoint): void {
  const { queue, steering, pauses, background } = control
  const rests = identity.phase === 'new' || identity.phase === 'finished'
  if (rests && [queue, steering, pauses, background].every((waiting) => waiting.length === 0)) return
  throw new LandfallError(
    'CHECKPOINT_INTERRUPTED',
    'Work was under way or waited when the checkpoint was taken. Take one of the session at rest.',
    {
      details: {
        phase: identity.phase,
        queued: queue.length,
        steering: steering.length,
        pauses: pauses.length,
        background: background.length,
        refused: true,
      },
    },
  )
}

/** Writes what the checkpoint holds, in as many steps as it takes; until the last of them the session takes nothing else. */
export async function restoreCheckpoint(
  services: RestoreServices,
  live: Pick<LiveSession, 'carryOut'>,
  of: { readonly checkpoint: Checkpoint; readonly scope: Scope; readonly elevated?: { readonly actor: string } },
): Promise<void> {
  const { checkpoint, scope, elevated } = of
  if (elevated !== undefined && isForeign(checkpoint, scope)) {
    const { tenant, user, session } = checkpoint.identity
    const filter = { ...scope, from: { tenant, user, session } }
    const data = {
      actor: checkedIdentifier(services.host.redactor, 'actor', elevated.actor),
      surface: 'restore',
      filter,
    }
    await services.control.append(data.actor, { type: 'audit.elevated', data })
  }
  const restore = new RestoreRequest(services.host, scope, checkpoint)
  do await live.carryOut(restore.request)
  while (!restore.isLast)
}
