import { systemRandom } from '../facts/system-ports.ts'

interface Wanted {
  readonly traceId: string
  readonly spanId: string
}

function random(bytes: number): string {
  return Buffer.from(systemRandom.bytes(bytes)).toString('hex')
}

/**
 * Owns: the ids of the span that is made next. To be given to a tracer provider as its `idGenerator`.
 * 1. A span that telemetry makes gets ids that follow from facts, so that every process comes to the same ones and what a call
 *    was given as its `traceparent` is the id of its span.
 * 2. Every other span of the process gets random ids, as without this.
 */
export class SpanIds {
  #wanted: Wanted | null = null

  generateTraceId = (): string => this.#wanted?.traceId ?? random(16)

  generateSpanId = (): string => this.#wanted?.spanId ?? random(8)

  /** Runs `make`, in which one span begins. */
  during<T>(wanted: Wanted, make: () => T): T {
    this.#wanted = wanted
    try {
      return make()
    } finally {
      this.#wanted = null
    }
  }
}
