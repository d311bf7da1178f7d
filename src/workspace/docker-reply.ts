import type { SandboxArchive } from './sandbox-archive.ts'
import type { SandboxOutput } from './sandbox-output.ts'

const headBytes = 8

/**
 * Owns: the stream of a container as the engine sends it: frames of the two outputs.
 * 1. What the first output says behind the mark is the container's own end and its tree; before it, it is the program's.
 */
export class DockerReply {
  readonly #mark: Buffer
  readonly #output: SandboxOutput
  readonly #archive: SandboxArchive
  #pending: Buffer = Buffer.alloc(0)
  #held: Buffer = Buffer.alloc(0)
  #behindMark = false

  constructor(mark: string, output: SandboxOutput, archive: SandboxArchive) {
    this.#mark = Buffer.from(mark)
    this.#output = output
    this.#archive = archive
  }

  push(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    while (this.#pending.length >= headBytes) {
      const length = this.#pending.readUInt32BE(4)
      if (this.#pending.length < headBytes + length) return
      const isError = this.#pending[0] === 2
      const data = this.#pending.subarray(headBytes, headBytes + length)
      this.#pending = this.#pending.subarray(headBytes + length)
      if (isError) this.#output.take(data, 'stderr')
      else this.#first(data)
    }
  }

  /** As much is held back as could be the beginning of the mark. */
  #first(data: Buffer): void {
    if (this.#behindMark) return this.#archive.push(data)
    const all = Buffer.concat([this.#held, data])
    const at = all.indexOf(this.#mark)
    const safe = at >= 0 ? at : Math.max(0, all.length - this.#mark.length + 1)
    if (safe > 0) this.#output.take(all.subarray(0, safe), 'stdout')
    this.#held = all.subarray(safe)
    if (at < 0) return
    this.#behindMark = true
    this.#archive.push(all.subarray(at + this.#mark.length))
  }
}
