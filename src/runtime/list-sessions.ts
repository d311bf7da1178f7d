import { LandfallError } from '../facts/errors.ts'
import type { Head, HeadFilter } from '../facts/log-port.ts'
import type { Redactor } from '../facts/ports.ts'
import { controlScope, type Scope } from '../facts/scope.ts'
import { checkedIdentifier } from './checked-scope.ts'
import type { ControlStream } from './control-stream.ts'
import type { Host } from './options.ts'

export interface SessionEntry extends Scope {
  readonly state: 'open' | 'closing' | 'closed' | 'erased'
  readonly title?: string
  readonly active?: string
  readonly queued: number
  readonly quarantined: number
  readonly seq: number
  readonly updatedAt: string
}

/** One user's sessions; or more, with an elevated claim. */
export interface SessionsFilter {
  readonly tenant?: string
  readonly user?: string
  readonly elevated?: { readonly actor: string; readonly scope: 'tenant' | 'fleet' }
}

const headsPerPage = 500

export async function listSessions(
  { log, redactor }: Pick<Host, 'log' | 'redactor'>,
  control: ControlStream,
  filter: SessionsFilter,
): Promise<readonly SessionEntry[]> {
  const wanted = checked(filter, redactor)
  const { elevated } = filter
  if (elevated !== undefined) {
    const data = { actor: elevated.actor, surface: 'sessions', filter: { ...wanted, scope: elevated.scope } }
    await control.append(elevated.actor, { type: 'audit.elevated', data })
  }
  const found: SessionEntry[] = []
  let after: Scope | undefined
  for (;;) {
    const page = await log.heads({ ...wanted, limit: headsPerPage, ...(after === undefined ? {} : { after }) })
    for (const head of page) if (head.scope.tenant !== controlScope.tenant) found.push(entryOf(head))
    after = page.at(-1)?.scope
    if (page.length < headsPerPage) return found
  }
}

function checked(filter: SessionsFilter, redactor: Redactor): Pick<HeadFilter, 'tenant' | 'user'> {
  const { tenant, user, elevated } = filter
  if (elevated !== undefined) checkedIdentifier(redactor, 'actor', elevated.actor)
  if (elevated !== undefined && elevated.scope !== 'tenant' && elevated.scope !== 'fleet')
    throw new LandfallError('INVALID_INPUT', 'An elevated scope is "tenant" or "fleet".', {
      details: { field: 'scope' },
    })
  const wide = elevated?.scope
  if (tenant === undefined && wide !== 'fleet') throw required('tenant')
  if (user === undefined && wide === undefined) throw required('user')
  return {
    ...(tenant === undefined ? {} : { tenant: checkedIdentifier(redactor, 'tenant', tenant) }),
    ...(user === undefined ? {} : { user: checkedIdentifier(redactor, 'user', user) }),
  }
}

function required(field: string): LandfallError {
  return new LandfallError('IDENTITY_REQUIRED', `Say whose sessions: ${field} is missing.`, { details: { field } })
}

export function entryOf(head: Head): SessionEntry {
  const { state, title, active, queued, quarantined } = head.summary
  return {
    ...head.scope,
    state,
    ...(title === undefined ? {} : { title }),
    ...(active === undefined ? {} : { active }),
    queued,
    quarantined,
    seq: head.seq,
    updatedAt: head.updatedAt,
  }
}
