import { type Model, type ModelChunk, ModelError, type ModelRequest } from '../../../src/facts/ports.ts'

export interface AskedCall {
  readonly name: string
  readonly arguments: unknown
}

export interface Said {
  readonly text?: string
  readonly calls?: readonly AskedCall[]
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number }
}

type Item = { readonly chunk: ModelChunk } | { readonly error: unknown } | { readonly end: true }

/** One request that waits for the test to answer it. Until then it is a model that thinks. */
export class HeldRequest {
  readonly request: ModelRequest
  readonly signal: AbortSignal
  readonly attempt: number
  readonly #items: Item[] = []
  #wake: () => void = () => {}

  constructor(request: ModelRequest, signal: AbortSignal, attempt: number) {
    this.request = request
    this.signal = signal
    this.attempt = attempt
  }

  get lastMessage(): ModelRequest['messages'][number] | undefined {
    return this.request.messages.at(-1)
  }

  /** Chunks of the caller's own, lawful or not; the stream stays open. */
  send(...chunks: unknown[]): void {
    for (const chunk of chunks) this.#push({ chunk: chunk as ModelChunk })
  }

  end(): void {
    this.#push({ end: true })
  }

  throws(error: unknown): void {
    this.#push({ error })
  }

  fails(code: string, retryable: boolean, retryAfterMs?: number): void {
    this.throws(new ModelError({ code, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }))
  }

  says(said: Said): void {
    const { text, calls = [], usage = { input: 10, output: 5 } } = said
    if (text !== undefined) this.send({ type: 'text', text })
    for (const call of calls) this.send({ type: 'call', name: call.name, arguments: call.arguments })
    this.send({ type: 'finish', reason: calls.length > 0 ? 'calls' : 'stop', usage })
    this.end()
  }

  text(text: string): void {
    this.says({ text })
  }

  calls(...calls: (readonly [name: string, args?: unknown])[]): void {
    this.says({ calls: calls.map(([name, args = {}]) => ({ name, arguments: args })) })
  }

  /** Deaf on purpose: an abort ends this stream only because its reader turns away. */
  async *stream(): AsyncGenerator<ModelChunk> {
    for (;;) {
      const item = this.#items.shift()
      if (item === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      if ('error' in item) throw item.error
      if ('end' in item) return
      yield item.chunk
    }
  }

  #push(item: Item): void {
    this.#items.push(item)
    this.#wake()
  }
}

/** A model that answers when the test says so, and remembers all that it was asked. */
export class HeldModel implements Model {
  readonly name: string
  readonly asked: HeldRequest[] = []
  readonly #settle: () => Promise<void>
  #taken = 0

  constructor(settle: () => Promise<void>, name = 'held') {
    this.#settle = settle
    this.name = name
  }

  request(request: ModelRequest, context: { signal: AbortSignal; attempt: number }): AsyncIterable<ModelChunk> {
    const held = new HeldRequest(request, context.signal, context.attempt)
    this.asked.push(held)
    return held.stream()
  }

  /** The oldest request that no test has taken yet. */
  async next(): Promise<HeldRequest> {
    await this.#settle()
    const held = this.asked[this.#taken]
    if (held === undefined) throw new Error(`the model was asked ${this.asked.length} times and not again`)
    this.#taken += 1
    return held
  }

  /** Requests that came and that no test has taken. */
  async waiting(): Promise<number> {
    await this.#settle()
    return this.asked.length - this.#taken
  }
}
