import { LandfallError } from '../facts/errors.ts'
import type { LimitName, Limits } from '../facts/limits.ts'

/** Something that goes on after its response has begun, and that a shutdown ends. */
export interface OpenStream {
  end(remark: string): void
}

/**
 * Owns: what is under way in one server.
 * 1. Requests and streams are counted apart: a stream holds no place of a request.
 * 2. Neither goes beyond its bound; who comes too late is told so and nothing is begun.
 * 3. Once shut, nothing new begins, and who is still sending a request is told so; what is under way is waited for, and streams and
 *    held answers are ended.
 */
export class Gate {
  readonly #limits: Limits
  readonly #streams = new Map<OpenStream, string>()
  readonly #perAudience = new Map<string, number>()
  #requests = 0
  /** Requests that are still being sent: what tells them that the gate is shut. */
  readonly #arriving = new Set<() => void>()
  /** Answers that are held until something happens: what ends their wait. */
  readonly #held = new Set<() => void>()
  #shut = false
  #emptied: (() => void) | null = null

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get requests(): number {
    return this.#requests
  }

  get streams(): number {
    return this.#streams.size
  }

  async through<T>(work: () => Promise<T>): Promise<T> {
    if (this.#shut) throw shuttingDown()
    this.#refuseBeyond('httpRequestsInFlight', this.#requests + 1, 'Too many requests are under way. Ask again soon.')
    this.#requests += 1
    try {
      return await work()
    } finally {
      this.#requests -= 1
      if (this.#requests === 0) this.#emptied?.()
    }
  }

  /** Takes the place of a stream before it is opened; what is returned gives it back. */
  openStream(audience: string, stream: OpenStream): () => void {
    const count = (this.#perAudience.get(audience) ?? 0) + 1
    this.#refuseBeyond('httpSubscribersPerSession', count, 'The session has too many subscribers. End one first.')
    this.#refuseBeyond(
      'httpStreamsInFlight',
      this.#streams.size + 1,
      'The server has too many streams. Try again later.',
    )
    this.#perAudience.set(audience, count)
    this.#streams.set(stream, audience)
    return () => {
      if (!this.#streams.delete(stream)) return
      const left = (this.#perAudience.get(audience) ?? 1) - 1
      if (left === 0) this.#perAudience.delete(audience)
      else this.#perAudience.set(audience, left)
    }
  }

  /** What a client sends, unless the gate is shut before it is whole. */
  async arrived<T>(sent: Promise<T>): Promise<T> {
    // Whoever is refused may go on sending, or be cut.
    sent.catch(() => {})
    let refuse = () => {}
    const shut = new Promise<never>((_, reject) => {
      refuse = () => reject(shuttingDown())
    })
    this.#arriving.add(refuse)
    try {
      return await Promise.race([sent, shut])
    } finally {
      this.#arriving.delete(refuse)
    }
  }

  /** Calls back when held answers are to be given; what is returned is for who does not wait any more. */
  hold(end: () => void): () => void {
    this.#held.add(end)
    return () => this.#held.delete(end)
  }

  shut(): void {
    this.#shut = true
    for (const refuse of this.#arriving) refuse()
  }

  /** Resolves when no request is under way. */
  async emptied(): Promise<void> {
    if (this.#requests > 0)
      await new Promise<void>((resolve) => {
        this.#emptied = resolve
      })
  }

  endHeld(): void {
    for (const end of [...this.#held]) end()
  }

  endStreams(remark: string): void {
    for (const stream of [...this.#streams.keys()]) stream.end(remark)
  }

  #refuseBeyond(which: LimitName, got: number, message: string): void {
    const bound = this.#limits[which]
    if (got <= bound) return
    throw new LandfallError('LIMIT_EXCEEDED', message, { retryable: true, details: { which, bound, got } })
  }
}

function shuttingDown(): LandfallError {
  return new LandfallError('SHUTTING_DOWN', 'This server is shutting down. Ask another one, or ask again soon.', {
    retryable: true,
  })
}
