export interface SseFrame {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

/** Frames of a stream of server-sent events. Comments and the wish for a pause before a reconnect are none. */
export async function* sseFrames(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<SseFrame> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      const parts = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const frame = frameOf(part)
        if (frame !== null) yield frame
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function frameOf(text: string): SseFrame | null {
  let id: string | null = null
  let event = 'message'
  const data: string[] = []
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    if (colon === 0) continue
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  return id === null && data.length === 0 ? null : { id, event, data: data.join('\n') }
}
