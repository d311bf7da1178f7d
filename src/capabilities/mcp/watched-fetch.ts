import type { RequestId } from '@modelcontextprotocol/sdk/types.js'

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface WatchOptions {
  /** Most bytes of one message. */
  readonly messageBytes: number
  /** The body of the response to a request has ended, by itself or broken off. */
  readonly ended: (id: RequestId) => void
  /** Why a response is not to be read, nor followed. */
  readonly refusal: (response: Response, url: string | URL) => Error | null
}

const newline = 10
const carriageReturn = 13

/**
 * `fetch` that bounds each message of a response and tells when the response to a request is over. No redirect is followed here:
 * it would carry the headers, and what is in them, to wherever the server says.
 */
export function watchedFetch(options: WatchOptions): Fetch {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' })
    const refusal = options.refusal(response, url)
    if (refusal !== null) {
      await response.body?.cancel().catch(() => {})
      throw refusal
    }
    const id = requestIdOf(init?.body)
    if (response.body === null) return response
    const body = watched(response.body, options.messageBytes, () => {
      if (id !== null) options.ended(id)
    })
    const { status, statusText, headers } = response
    return new Response(body, { status, statusText, headers })
  }
}

function requestIdOf(body: unknown): RequestId | null {
  if (typeof body !== 'string') return null
  const message = JSON.parse(body) as { id?: RequestId; method?: string }
  return message.method === undefined ? null : (message.id ?? null)
}

function watched(
  body: ReadableStream<Uint8Array>,
  messageBytes: number,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const bound = messageBound(messageBytes)
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          ended()
          return controller.close()
        }
        if (!bound(value)) throw new Error('a message is larger than its bound')
        controller.enqueue(value)
      } catch (error) {
        ended()
        controller.error(error)
        await reader.cancel().catch(() => {})
      }
    },
    cancel(reason) {
      ended()
      return reader.cancel(reason)
    },
  })
}

/** Counts since the last empty line, which is where an event ends; a body without events is one message. */
function messageBound(messageBytes: number): (chunk: Uint8Array) => boolean {
  let since = 0
  let inLine = 0
  return (chunk) => {
    for (const byte of chunk) {
      since += 1
      if (byte === newline) {
        if (inLine === 0) since = 0
        inLine = 0
      } else if (byte !== carriageReturn) inLine += 1
      if (since > messageBytes) return false
    }
    return true
  }
}
