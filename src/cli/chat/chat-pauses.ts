import { LandfallError } from '../../facts/errors.ts'
import type { Session } from '../../runtime/session.ts'

type PauseView = Awaited<ReturnType<Session['pauses']>>[number]

/**
 * Owns the numbers under which the pauses of a session are spoken of.
 * 1. A pause keeps its number as long as the chat lasts; none is used twice.
 */
export class ChatPauses {
  readonly #session: Session
  readonly #numbers = new Map<string, number>()

  constructor(session: Session) {
    this.#session = session
  }

  /** Open ones that were not spoken of yet, oldest first. */
  async fresh(): Promise<readonly string[]> {
    const open = await this.#open()
    return open.filter(({ token }) => !this.#numbers.has(token)).map((pause) => this.#text(pause))
  }

  async all(): Promise<readonly string[]> {
    return (await this.#open()).map((pause) => this.#text(pause))
  }

  /** By its number or token; without one, the only one that is open. */
  async find(named: string): Promise<PauseView> {
    const open = await this.#open()
    const found = open.filter((pause) => named === '' || pause.token === named || String(this.#number(pause)) === named)
    const [only] = found
    if (only === undefined) throw new LandfallError('NOT_FOUND', 'No such pause is open. /pauses lists them.')
    if (found.length > 1)
      throw new LandfallError('INVALID_INPUT', 'Several pauses are open. Name one by its number; /pauses lists them.')
    return only
  }

  async #open(): Promise<readonly PauseView[]> {
    return [...(await this.#session.pauses())].reverse()
  }

  #number({ token }: PauseView): number {
    const known = this.#numbers.get(token)
    if (known !== undefined) return known
    this.#numbers.set(token, this.#numbers.size + 1)
    return this.#numbers.size
  }

  #text(pause: PauseView): string {
    const { reason, subject, deadline } = pause
    const about = [subject?.name, subject?.text, argumentText(subject?.arguments)].filter((part) => part !== undefined)
    const until = deadline === undefined ? '' : ` (until ${deadline})`
    return `? ${this.#number(pause)} ${reason}: ${about.join(' ') || 'the turn'}${until}; ${ways[reason] ?? '/resume or /deny'}`
  }
}

const ways: { readonly [reason: string]: string } = {
  approval: '/approve or /deny',
  authorization: '/approve or /deny',
  input: '/answer TEXT or /deny',
  external: '/resume or /deny',
  operator: '/resume',
}

function argumentText(given: unknown): string | undefined {
  return given === undefined || given === null ? undefined : JSON.stringify(given)
}
