import type { Bus } from '../bus/bus.ts'
import type { Redactor } from '../facts/ports.ts'
import type { Scope } from '../facts/scope.ts'
import { type StreamingRedactor, streamingRedactor } from '../redaction/streaming-redactor.ts'

type Kind = 'text' | 'reasoning'

interface About extends Scope {
  readonly task: string
  readonly after: number
}

/**
 * Owns: the way of one answer's text from the model to whoever listens.
 * 1. Nothing leaves but through the redactor, which sees the whole stream: a secret split over chunks does not get through.
 * 2. While nobody listens nothing is redacted; what was said so far is kept, and shown to the redactor before anybody hears more.
 * 3. When the redactor fails, nothing more of this answer leaves, and `onFailure` hears of it once. The answer itself goes on.
 */
export class DeltaStream {
  readonly #bus: Bus
  readonly #redactor: Redactor
  readonly #about: About
  readonly #onFailure: () => void
  #unheard: { readonly kind: Kind; readonly text: string }[] = []
  #streams: { readonly [K in Kind]: StreamingRedactor } | null = null
  #failed = false
  #index = 0

  constructor(bus: Bus, redactor: Redactor, about: About, onFailure: () => void) {
    this.#bus = bus
    this.#redactor = redactor
    this.#about = about
    this.#onFailure = onFailure
  }

  push(kind: Kind, text: string): void {
    if (this.#failed) return
    if (this.#bus.subscribers === 0 && this.#streams === null) this.#unheard.push({ kind, text })
    else this.#emit(kind, () => this.#open()[kind].push(text))
  }

  end(): void {
    const streams = this.#streams
    if (streams === null) return
    this.#emit('reasoning', () => streams.reasoning.flush())
    this.#emit('text', () => streams.text.flush())
  }

  #open(): { readonly [K in Kind]: StreamingRedactor } {
    if (this.#streams !== null) return this.#streams
    const streams = { text: streamingRedactor(this.#redactor), reasoning: streamingRedactor(this.#redactor) }
    for (const { kind, text } of this.#unheard) streams[kind].push(text)
    this.#unheard = []
    this.#streams = streams
    return streams
  }

  #emit(kind: Kind, shown: () => string): void {
    if (this.#failed) return
    try {
      const text = shown()
      if (text === '') return
      this.#index += 1
      this.#bus.ephemeral({ ...this.#about, type: 'model.delta', index: this.#index, kind, text })
    } catch {
      this.#failed = true
      this.#unheard = []
      this.#onFailure()
    }
  }
}
