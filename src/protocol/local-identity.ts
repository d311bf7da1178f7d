import { LandfallError } from '../facts/errors.ts'
import { type Credentials, checkedIdentity, elevatedScopes, type Identify, type Identity } from './identity.ts'

const loopbackNames = /^(localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i
const loopbackAddress = /^(::1|(::ffff:)?127(?:\.\d{1,3}){3})$/

/** An address or name that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return loopbackNames.test(host) || loopbackAddress.test(host)
}

/**
 * For a server without a key: whoever reaches this machine's loopback says who they are. A browser is no such person: pages of
 * other origins are refused, and so are names that somebody's DNS points here.
 */
export function localIdentity(): Identify {
  const identify = async (credentials: Credentials): Promise<Identity> => {
    refuseStrangers(credentials)
    const { headers } = credentials
    const scopes = (headers.get('x-landfall-scopes') ?? '').split(/[\s,]+/).filter((scope) => known.has(scope))
    return {
      ...checkedIdentity(headers.get('x-landfall-tenant') ?? 'local', headers.get('x-landfall-user') ?? 'local'),
      scopes: new Set(scopes),
      sessions: null,
      expiresAt: null,
    }
  }
  return Object.assign(identify, { loopbackOnly: true })
}

const known: ReadonlySet<string> = new Set(elevatedScopes)

function refuseStrangers({ headers, url, remote }: Credentials): void {
  const strange =
    (remote !== null && !loopbackAddress.test(remote)) ||
    !loopbackNames.test(hostnameOf(headers.get('host') ?? url.host)) ||
    !isSameOrigin(headers.get('origin'), headers.get('host') ?? url.host) ||
    ['cross-site', 'same-site'].includes(headers.get('sec-fetch-site') ?? '')
  if (strange)
    throw new LandfallError(
      'ORIGIN_REFUSED',
      'Without a key this server answers programs of this machine alone, under a name of the loopback.',
    )
}

function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '')
}

/** Browsers send an origin with everything that could change something; other programs send none. */
function isSameOrigin(origin: string | null, host: string): boolean {
  if (origin === null) return true
  try {
    return new URL(origin).host === host.replace(/:(80|443)$/, '')
  } catch {
    return false
  }
}
