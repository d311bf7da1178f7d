import { pause } from './browser-timers.ts'
import type { Page } from './shapes.ts'

/** Who the reader says they are: two names for a server without keys, or a token for one with keys. */
export interface Credentials {
  readonly tenant: string
  readonly user: string
  readonly token: string
}

/** A refusal of the server, or that it was not reached. */
export class ApiProblem extends Error {
  readonly code: string
  readonly status: number

  constructor(code: string, message: string, status: number) {
    super(message)
    this.code = code
    this.status = status
  }

  /** Whether there is no use in asking again as the same reader. */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 429
  }
}

const attempts = 3
const pauseMs = 400

/** The public protocol and nothing else. Addresses are relative to the page, so that it may stand below a path of a host. */
export class Api {
  readonly #credentials: () => Credentials

  constructor(credentials: () => Credentials) {
    this.#credentials = credentials
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await this.#fetch(path, signal === undefined ? {} : { signal })).json() as Promise<T>
  }

  /** Commands carry an id, so one whose answer was lost is sent again and is still carried out once. */
  async command<T>(path: string, body: object, method: 'POST' | 'DELETE' = 'POST'): Promise<T> {
    const text = JSON.stringify({ ...body, commandId: commandId() })
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await this.#fetch(path, { method, body: text })
        return (await response.json()) as T
      } catch (error) {
        if (attempt === attempts || !(error instanceof ApiProblem) || error.status !== 0) throw error
        await pause(pauseMs * attempt)
      }
    }
  }

  /** A document as text, in the form that is asked for. */
  async text(path: string, accept: string): Promise<string> {
    return (await this.#fetch(path, { headers: { accept } })).text()
  }

  /** All pages of a list. */
  async list<T>(path: string, signal?: AbortSignal): Promise<readonly T[]> {
    const found: T[] = []
    let after: string | number | undefined
    do {
      const from: string = after === undefined ? '' : `&after=${encodeURIComponent(after)}`
      const joined = path.includes('?') ? '&' : '?'
      const page: Page<T> = await this.get(`${path}${joined}limit=1000${from}`, signal)
      found.push(...page.items)
      after = page.next
    } while (after !== undefined)
    return found
  }

  async stream(path: string, lastId: string | null, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) }
    const { body } = await this.#fetch(path, { signal, headers })
    if (body === null) throw new ApiProblem('UNREACHABLE', 'The server sent no stream.', 0)
    return body
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const { tenant, user, token } = this.#credentials()
    const identity: Record<string, string> =
      token === '' ? { 'x-landfall-tenant': tenant, 'x-landfall-user': user } : { authorization: `Bearer ${token}` }
    const type = init.body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = headersOf({ ...identity, ...type, ...(init.headers as Record<string, string> | undefined) })
    let response: Response
    try {
      response = await fetch(new URL(`v1/${path}`, document.baseURI), {
        ...init,
        headers,
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
      })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new ApiProblem('UNREACHABLE', 'The server cannot be reached.', 0)
    }
    if (!response.ok) throw await problemOf(response)
    return response
  }
}

function headersOf(all: Record<string, string>): Headers {
  try {
    return new Headers(all)
  } catch {
    throw new ApiProblem(
      'IDENTITY_UNFIT',
      'No request can carry this identity: it has signs that no header holds.',
      400,
    )
  }
}

/** A problem in one line, as it is shown. */
export function problemText(error: unknown): string {
  return error instanceof ApiProblem ? `${error.code}: ${error.message}` : 'Something went wrong in this page.'
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const { status } = response
  const body: unknown = await response.json().catch(() => null)
  const { code, detail } = (body ?? {}) as { code?: unknown; detail?: unknown }
  return new ApiProblem(
    typeof code === 'string' ? code : `HTTP_${status}`,
    typeof detail === 'string' ? detail : 'The server refused, and did not say why.',
    status,
  )
}

/** `randomUUID` is there only where pages come encrypted or from this machine. */
function commandId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

export function sessionPath(session: string): string {
  return `sessions/${encodeURIComponent(session)}`
}
