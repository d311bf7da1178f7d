import { Output } from '../output.ts'
import type { ChatScreen } from './chat-screen.ts'

/** How a chat speaks: as every command, but around what is being typed. With `json` each event is one line. */
export class ChatOutput extends Output {
  readonly #screen: ChatScreen
  readonly #silent: boolean

  constructor(options: { json: boolean; quiet: boolean }, screen: ChatScreen) {
    super(options)
    this.#screen = screen
    this.#silent = options.quiet || options.json
  }

  override get live(): { write(text: string): unknown } | null {
    return this.#screen.interactive && !this.json ? this.#screen : null
  }

  override line(text: string): void {
    this.#screen.above(`${text}\n`, process.stdout)
  }

  override note(text: string): void {
    if (!this.#silent) this.#screen.above(this.dimmed(`${text}\n`), process.stderr)
  }

  override error(error: unknown): void {
    this.#screen.above(this.errorText(error), process.stderr)
  }
}
