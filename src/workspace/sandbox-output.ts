import type { Readable } from 'node:stream'
import { LandfallError } from '../facts/errors.ts'

/**
 * Owns: what a program has written so far, bounded.
 * 1. The bound is over both streams together; beyond it nothing is kept, and whoever asked to hear of it hears of it once.
 */
export class SandboxOutput {
  readonly #bound: number
  readonly #onFlood: () => void
  readonly #chunks: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] }
  #bytes = 0

  constructor(bound: number, onFlood: () => void) {
    this.#bound = bound
    this.#onFlood = onFlood
  }

  follow(stream: Readable | null, name: 'stdout' | 'stderr'): void {
    stream?.on('data', (chunk: Buffer) => this.take(chunk, name))
    stream?.on('error', () => {})
  }

  take(chunk: Buffer, name: 'stdout' | 'stderr'): void {
    const before = this.#bytes
    this.#bytes += chunk.length
    if (this.#bytes <= this.#bound) this.#chunks[name].push(chunk)
    else if (before <= this.#bound) this.#onFlood()
  }

  /** What is no UTF-8 is shown by replacement characters. */
  text(name: 'stdout' | 'stderr'): string {
    return Buffer.concat(this.#chunks[name]).toString('utf8')
  }
}

export type Ended = 'abort' | 'flood' | 'timeout' | 'archive'

/** Why a sandbox was ended before its program was done, as the error of the call. */
export function endedEarly(why: Exclude<Ended, 'abort' | 'archive'>, bound: number): LandfallError {
  if (why === 'timeout')
    return new LandfallError(
      'PROCESS_TIMEOUT',
      `The program was ended after ${bound} ms. Nothing that it changed is kept.`,
      { details: { bound } },
    )
  const message = 'The program wrote more than the bound and was ended. Nothing that it changed is kept; ask for less.'
  return new LandfallError('OUTPUT_LIMIT', message, { details: { which: 'outputBytes', bound } })
}

export function sandboxFailed(why: string): LandfallError {
  return new LandfallError('WORKSPACE_FAILED', `The sandbox failed: ${why}. Nothing that the program changed is kept.`)
}
