import { clearLine, cursorTo, type Interface } from 'node:readline'

/**
 * Owns the terminal while somebody types in it.
 * 1. What is being typed is never torn: whole lines are put above it. Words of a model are shown as they come while nothing is
 *    typed, else when their line is whole.
 * 2. Where there is no terminal nothing but lines is written: no prompt, no movement of a cursor.
 */
export class ChatScreen {
  readonly interactive: boolean
  #lines: Interface | null = null
  /** Words stand on the last line, behind which the prompt must not be put. */
  #inWords = false
  #held = ''

  constructor() {
    const dumb = process.env.TERM === 'dumb'
    this.interactive = process.stdin.isTTY === true && process.stdout.isTTY === true && !dumb
  }

  attach(lines: Interface): void {
    this.#lines = lines
  }

  detach(): void {
    this.#endWords()
    this.#lines = null
  }

  prompt(): void {
    if (this.interactive && !this.#inWords) this.#lines?.prompt(true)
  }

  /** Words as they come; the way of `Output.live`. */
  write(text: string): void {
    if (text === '\n') return this.#endWords()
    const typing = (this.#lines?.line ?? '') !== ''
    if (typing && this.#inWords) {
      this.#inWords = false
      process.stdout.write('\n')
      this.prompt()
    }
    if (typing) {
      this.#held += text
      const end = this.#held.lastIndexOf('\n')
      if (end < 0) return
      const whole = this.#held.slice(0, end)
      this.#held = this.#held.slice(end + 1)
      return this.above(`${whole}\n`, process.stdout)
    }
    if (!this.#inWords) this.#clear()
    this.#inWords = true
    process.stdout.write(this.#held + text)
    this.#held = ''
  }

  /** Whole lines, above what is being typed. */
  above(text: string, stream: NodeJS.WriteStream): void {
    if (!this.interactive) return void stream.write(text)
    if (this.#inWords) process.stdout.write('\n')
    this.#inWords = false
    this.#clear()
    stream.write(text)
    this.prompt()
  }

  #endWords(): void {
    if (this.#held !== '') {
      const rest = this.#held
      this.#held = ''
      this.above(`${rest}\n`, process.stdout)
    }
    if (!this.#inWords) return
    this.#inWords = false
    process.stdout.write('\n')
    this.prompt()
  }

  #clear(): void {
    if (!this.interactive || this.#lines === null) return
    cursorTo(process.stdout, 0)
    clearLine(process.stdout, 0)
  }
}
