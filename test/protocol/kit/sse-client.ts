import { onTestFinished } from 'vitest'

export interface Frame {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly retry?: string
  readonly comment?: string
}

export interface SseFact {
  readonly seq: number
  readonly cursor: number
  readonly type: string
  readonly task: string | null
  readonly resume: string
  readonly [name: string]: unknown
}

/** A client that reads server-sent events as their specification says, and can be cut at any time. */
export class SseClient {
  readonly frames: Frame[] = []
  /** As a browser keeps it: the newest id, also of a frame without data. */
  lastId: string | null
  status = 0
  ended = false
  readonly #controller = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly done: Promise<void>

  constructor(address: string, options: { lastId?: string | null; headers?: Record<string, string> } = {}) {
    this.lastId = options.lastId ?? null
    const headers = { ...options.headers, ...(this.lastId === null ? {} : { 'last-event-id': this.lastId }) }
    this.done = this.#run(address, headers)
    onTestFinished(() => this.cut())
  }

  cut(): void {
    this.#controller.abort()
  }

  get facts(): SseFact[] {
    return this.events.filter((event): event is SseFact => 'seq' in event)
  }

  get events(): { type: string; [name: string]: unknown }[] {
    return this.frames.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data)]))
  }

  /** Resolves when what was read so far satisfies, rejects when the stream ends before. */
  until(satisfied: (client: this) => boolean, what = 'what was waited for'): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (satisfied(this)) resolve()
        else if (this.ended)
          reject(new Error(`the stream ended without ${what}: ${JSON.stringify(this.frames.slice(-5))}`))
        else return
        this.#waiting.delete(look)
      }
      this.#waiting.add(look)
      look()
    })
  }

  async #run(address: string, headers: Record<string, string>): Promise<void> {
    try {
      const response = await fetch(address, { headers, signal: this.#controller.signal })
      this.status = response.status
      this.#heard()
      let rest = ''
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) {
        rest += decoder.decode(chunk, { stream: true })
        const parts = rest.split('\n\n')
        rest = parts.pop() ?? ''
        for (const part of parts) this.#frame(part)
        this.#heard()
      }
    } catch (error) {
      if (!this.#controller.signal.aborted) throw error
    } finally {
      this.ended = true
      this.#heard()
    }
  }

  #frame(text: string): void {
    const frame: Record<string, string> = {}
    for (const line of text.split('\n')) {
      const [, name = '', value = ''] = /^(\w*): ?(.*)$/.exec(line) ?? []
      frame[name === '' ? 'comment' : name] = value
    }
    if (frame.id !== undefined) this.lastId = frame.id
    this.frames.push(frame)
  }

  #heard(): void {
    for (const look of [...this.#waiting]) look()
  }
}
