import { LandfallError } from '../../facts/errors.ts'

/** Statuses by which a server refuses without having looked at the request, and what the host can do about each. */
const refusals: Readonly<Record<number, { readonly code: string; readonly what: string; readonly retryable?: true }>> =
  {
    401: {
      code: 'MCP_UNAUTHORIZED',
      what: 'does not accept our key. Give it a valid one in the headers of its provider',
    },
    403: { code: 'MCP_FORBIDDEN', what: 'does not allow this. Ask who runs it for the right, or use another key' },
    429: { code: 'MCP_RATE_LIMITED', what: 'has had too many requests. Try again later', retryable: true },
  }

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** What an answer means that is no answer of the protocol; null where it is one, or says nothing for certain. */
export function refusalOf(server: string, response: Response, asked: string | URL): LandfallError | null {
  const { status, headers } = response
  if (redirects.has(status)) return redirectOf(server, headers.get('location'), new URL(asked))
  const refusal = refusals[status]
  if (refusal === undefined) return null
  const { code, what, retryable = false } = refusal
  const wait = retryable ? waitOf(headers.get('retry-after')) : null
  const after = wait === null ? '' : ` (it asks for ${wait} s)`
  return new LandfallError(code, `The MCP server '${server}' ${what}${after} (status ${status}). Nothing was done.`, {
    retryable,
    details: { server, status, ...(wait === null ? {} : { retryAfterMs: wait * 1_000 }) },
  })
}

/** Another origin is another server: nobody said that it may see the headers, nor the arguments of a call. */
function redirectOf(server: string, location: string | null, asked: URL): LandfallError | null {
  const to = location !== null && URL.canParse(location, asked.href) ? new URL(location, asked) : null
  if (to?.origin === asked.origin) return null
  const where = to === null ? 'to an address that is none' : `to ${to.protocol}//${to.host}`
  const message = `The MCP server '${server}' sends us on ${where}; nothing was sent there. If that is right, give that address as its url.`
  return new LandfallError('MCP_REDIRECTED', message, { details: { server } })
}

/** Whole seconds alone: a date would need the server's clock. */
function waitOf(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}

export interface Unavailable {
  /** What it answered with, where it answered. */
  readonly status?: number | undefined
  /** What it wrote to its standard error last. */
  readonly stderr?: string | undefined
}

/** A server that cannot be had. */
export function unavailable(server: string, { status, stderr = '' }: Unavailable = {}): LandfallError {
  const message = `The MCP server '${server}' ${status === undefined ? 'cannot be reached. See that it runs' : failing(status)}.`
  return new LandfallError('MCP_UNAVAILABLE', message, {
    retryable: true,
    details: { server, ...(status === undefined ? {} : { status }), ...(stderr === '' ? {} : { stderr }) },
  })
}

function failing(status: number): string {
  if (status === 408 || status === 499) return `answers with status ${status}: it gave up waiting. Try again later`
  const advice = status >= 500 ? 'See its log, and try again later' : 'See that its url is right'
  return `answers with status ${status}. ${advice}`
}

/** What is said of a call that was sent and is no read: whoever reads it must not repeat it. */
export function lostBy(server: string, status: number | undefined): string {
  if (status === undefined) return 'The connection to the server was lost while it worked.'
  return `The MCP server '${server}' answered with status ${status} while it worked. See its log before trying again.`
}
