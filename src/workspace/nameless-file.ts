import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Owns: a file that has no name any more and is gone with whoever has it open. What is written to it succeeds also when nobody is
 * there to read it, as it does not with a pipe.
 */
export class NamelessFile {
  readonly descriptor: number
  #isOpen = true

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'landfall-info-'))
    try {
      this.descriptor = openSync(join(folder, 'info'), 'wx+', 0o600)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  /** All that was written to it so far; nothing once it is closed, when its number may be another file's. */
  text(): string {
    if (!this.#isOpen) return ''
    return readFileSync(`/proc/self/fd/${this.descriptor}`, 'latin1')
  }

  close(): void {
    this.#isOpen = false
    closeSync(this.descriptor)
  }
}
