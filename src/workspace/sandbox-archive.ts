import { sandboxFailed } from './sandbox-output.ts'
import type { Tree, TreeBounds } from './tree.ts'
import { TreeReader } from './untar.ts'

const lineBytes = 64

/**
 * Owns: what a sandbox says at its end: a line with the exit code of the program, then the archive of its tree.
 * 1. The line is what the inner script writes; anything else is a sandbox that failed.
 */
export class SandboxArchive {
  readonly #reader: TreeReader
  readonly #onUseless: () => void
  #line = Buffer.alloc(0)
  #exitCode: number | null = null
  #failed = false

  constructor(bounds: TreeBounds, onUseless: () => void) {
    this.#reader = new TreeReader(bounds)
    this.#onUseless = onUseless
  }

  /** null: the program has not ended by itself, or what stood for its end was not understood. */
  get exitCode(): number | null {
    return this.#exitCode
  }

  push(chunk: Buffer): void {
    if (this.#failed) return
    const rest = this.#exitCode === null ? this.#readLine(chunk) : chunk
    if (rest !== null && !this.#reader.push(rest)) this.#fail()
  }

  tree(): Tree {
    if (this.#exitCode === null) throw sandboxFailed('it did not say how its program ended')
    return this.#reader.tree()
  }

  #readLine(chunk: Buffer): Buffer | null {
    this.#line = Buffer.concat([this.#line, chunk])
    const end = this.#line.indexOf(0x0a)
    if (end < 0 && this.#line.length <= lineBytes) return null
    const code = /^exit (\d{1,3})$/.exec(this.#line.toString('latin1', 0, Math.max(0, end)))?.[1]
    if (code === undefined) {
      this.#fail()
      return null
    }
    this.#exitCode = Number(code)
    return this.#line.subarray(end + 1)
  }

  #fail(): void {
    this.#failed = true
    this.#onUseless()
  }
}
