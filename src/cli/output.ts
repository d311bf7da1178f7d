import { cleanError, type ShownError } from './clean-error.ts'

/** Details that the sentence does not hold already, or that are for programs. */
const unsaid: ReadonlySet<string> = new Set(['refused', 'sqlite', 'issues'])

/**
 * Owns how a command speaks: results on standard output, everything else on standard error.
 * 1. With `json` a result is one JSON value on one line, and nothing but an error object is on standard error.
 * 2. No escape sequence leaves for anything but a terminal, nor when NO_COLOR is set.
 */
export class Output {
  readonly json: boolean
  readonly #quiet: boolean

  constructor(options: { json: boolean; quiet: boolean }) {
    this.json = options.json
    this.#quiet = options.quiet || options.json
  }

  /** Where the words of a model are shown while they come; null: only whole, when they are there. */
  get live(): { write(text: string): unknown } | null {
    if (this.json) return null
    if (process.stdout.isTTY) return process.stdout
    return process.stderr.isTTY && !this.#quiet ? process.stderr : null
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  value(value: unknown): void {
    this.line(JSON.stringify(value))
  }

  /** A result in the form that was asked for. */
  result(value: unknown, text: () => readonly string[]): void {
    if (this.json) this.value(value)
    else for (const line of text()) this.line(line)
  }

  /** Progress and remarks. */
  note(text: string): void {
    if (this.#quiet) return
    process.stderr.write(this.dimmed(`${text}\n`))
  }

  /** Fainter where standard error may be coloured. */
  protected dimmed(text: string): string {
    return isColored(process.stderr) ? `\u001b[2m${text}\u001b[22m` : text
  }

  error(error: unknown): void {
    process.stderr.write(this.errorText(error))
  }

  protected errorText(error: unknown): string {
    const { code, message, retryable, details } = cleanError(error)
    if (this.json) return `${JSON.stringify({ code, message, retryable, details })}\n`
    return `${code}: ${message}${detailText(details)}\n`
  }
}

function isColored(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && (process.env.NO_COLOR ?? '') === ''
}

function detailText(details: ShownError['details']): string {
  const said = Object.entries(details).flatMap(([name, value]) => {
    if (unsaid.has(name) || value === null || value === undefined) return []
    if (Array.isArray(value)) return value.length === 0 ? [] : [`${name}=${value.join(',')}`]
    return typeof value === 'object' ? [`${name}=${JSON.stringify(value)}`] : [`${name}=${String(value)}`]
  })
  return said.length === 0 ? '' : ` (${said.join(' ')})`
}
